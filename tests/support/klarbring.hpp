// Klarbring's particle with numbers of one's own: the wall occupies UN > 0, signs as in Basseville 2004.
#pragma once

#include <random>
#include <string>

#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder {

struct Klarbring {
  double m = 1, KN = 2, W = 1, KT = 1, FN = 1, FT = 1, mu = 0.25;
  double UN = 0, UT = 0, VN = 0, VT = 0;

  [[nodiscard]] std::string text() const {
    const auto number = [](double x) { return "(" + to_text(x) + ")"; };
    return "[coordinates]\nUN = { start = \"" + number(UN) + "\", velocity = \"" + number(VN) +
           "\" }\nUT = { start = \"" + number(UT) + "\", velocity = \"" + number(VT) +
           "\" }\n[energy]\nkinetic = \"" + number(m) + "/2*(UN'^2 + UT'^2)\"\npotential = \"" + number(KN) +
           "/2*UN^2 + " + number(W) + "*UN*UT + " + number(KT) +
           "/2*UT^2\"\n[[force]]\nname = \"press\"\nalong = \"UN'\"\nvalue = \"" + number(FN) +
           "\"\n[[force]]\nname = \"pull\"\nalong = \"UT'\"\nvalue = \"" + number(FT) +
           "\"\n[[contact]]\nname = \"wall\"\ngap = \"-UN\"\nslip = \"UT'\"\nfriction = \"" + number(mu) +
           "\"\n[run]\nuntil = 40\n";
  }
  [[nodiscard]] TestModel model() const { return text_model(text()); }

  /// Positive entries and determinant, any sign of A, any μ.
  static Klarbring random(std::mt19937_64& random) {
    std::uniform_real_distribution<double> u(0, 1);
    Klarbring k;
    k.m = 0.5 + u(random);
    k.KT = 0.2 + 2 * u(random);
    k.W = 0.1 + 1.5 * u(random);
    k.KN = k.W * k.W / k.KT * (1.05 + 2 * u(random));
    k.FN = 0.1 + 2 * u(random);
    k.FT = 4 * u(random) - 1;
    k.mu = 0.05 + 2 * u(random) * k.KT / k.W;
    return k;
  }
};

}  // namespace judder
