// The right-hand side of a mode whose structure is constant, as one small table.
//
//     u = D y + d ,   s = F u + varying(t, y) + b ,      (v̇, λ, ż) = T s + c ,      λ_T = −σ μ (base + Σ factor |λ_N|)  for slipping rows
//
// Mass matrix, active rows and friction laws are constant in the mode, so accelerations and reactions are linear in the forces s, friction of
// known size included; and most forces are affine in the state. The columns of T are what unit forces give (ActiveRows::respond), right to the
// last bit, c what constant forces and the terms ζ of the rows give. What cancels for reasons of mechanics is exactly zero in the
// table: a held coordinate, the reaction to a force elsewhere. So no interpreter runs where nothing varies with time or nonlinearly, no
// system is solved, and zeros cost nothing.
//
// Rounding: the links u keep the differences that the model writes (x − l near l is exact), and the forces on a coordinate are summed up before
// they are multiplied: near an equilibrium they cancel as they do when the equations are evaluated one after the other.
// Sums are in the order of the table.
//
// Not for every mode: build() returns false for redundant rows (their reactions are shared elsewhere and need the forces themselves),
// massless coordinates, coefficients that are not finite, and systems so large that making the table costs more than it saves.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "active_rows.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

/// Where the results of an evaluation stand in one array: v̇, λ_N by relation, λ_T by tangential row, ż.
struct OutcomeLayout {
  explicit OutcomeLayout(const model::Layout& layout)
      : normal(layout.coordinates),
        tangent(normal + layout.relations),
        rate(tangent + layout.tangents),
        size(rate + layout.states) {}
  int normal, tangent, rate, size;
};

class ModeTable {
 public:
  ModeTable() = default;
  ModeTable(const ModeTable&) = delete;  // its lists point into its own memory
  ModeTable& operator=(const ModeTable&) = delete;

  /// The table of a mode whose sides, directions and statuses are in work.in and whose rows are factorised; `pinned` coordinates stay at
  /// rest. It allocates.
  [[nodiscard]] bool build(const model::System& system, model::Workspace& work, const Mode& mode,
                           std::span<const int> touched, std::span<const int> pinned, ActiveRows& rows);
  void clear();
  [[nodiscard]] bool ready() const { return ready_; }

  /// Writes what does not change in the mode, zeros included: all of `outcome`.
  void begin(double* outcome) const;
  /// evaluate() can give System::powers with what changes.
  [[nodiscard]] bool gives_powers() const { return varying_ != nullptr && with_powers_ != nullptr; }
  /// Writes what changes; where `powers` is asked for and gives_powers(), them too. `in` is the array of inputs. False: not finite.
  [[nodiscard]] bool evaluate(const double* in, double* registers, double* outcome, double* powers) {
    double* const source = sources_.data();
    const Further* further = further_.data();
    double part = 0;
    for (const Link& link : links_) {
      double u = in[link.place];
      for (int i = link.further; i > 0; --i, ++further) u += further->sign * in[further->place];
      part += link.factor * (u + link.offset);
      if (link.source < 0) continue;
      source[link.source] = part + link.constant;
      part = 0;
    }
    if (varying_ != nullptr) {
      if (powers != nullptr && with_powers_ != nullptr) {
        with_powers_->evaluate(in, varied_.data(), registers);
        std::copy(varied_.begin() + varying_->outputs(), varied_.end(), powers);
      } else {
        varying_->evaluate(in, varied_.data(), registers);
      }
      for (const Varied& v : varied_parts_)
        source[v.source] = (v.linked ? source[v.source] + varied_[v.output] : varied_[v.output]) + v.constant;
    }
    const Term* term = terms_.data();
    double all = 0;  // not finite if one of its terms is not
    for (const Row& row : rows_) {
      double sum = row.constant + row.first.factor * source[row.first.number];
      for (int i = row.further; i > 0; --i, ++term) sum += term->factor * source[term->number];
      outcome[row.target] = sum;
      all += sum;
    }
    const Term* feed = feeds_.data();
    for (const Slip& slip : slips_) {
      double limit = slip.base + slip.first.factor * std::abs(outcome[slip.first.number]);
      for (int i = slip.further; i > 0; --i, ++feed) limit += feed->factor * std::abs(outcome[feed->number]);
      outcome[slip.target] = slip.factor * limit;
    }
    return all - all == 0;
  }

 private:
  class Builder;

  /// u = in[place] ± … + offset
  struct Link {
    double factor = 0;
    double offset = 0;
    int place = 0;
    int further = 0;      ///< number of further terms
    int source = -1;      ///< that ends with this link; −1: the next one belongs to it too
    double constant = 0;  ///< of that source
  };
  struct Varied {
    double constant = 0;
    int source = 0;
    int output = 0;       ///< of `varying`
    bool linked = false;  ///< the source has links too
  };
  struct Further {
    double sign = 1;
    int place = 0;
  };
  struct Term {
    double factor = 0;
    int number = 0;  ///< of a source; for slips: place of the normal force in the outcome
  };
  struct Row {
    double constant = 0;
    Term first;
    int target = 0;   ///< in the outcome
    int further = 0;  ///< number of further terms
  };
  struct Slip {
    double base = 0;
    Term first;
    double factor = 0;  ///< −σ μ
    int target = 0;     ///< in the outcome
    int further = 0;    ///< number of further terms
  };

  bool ready_ = false;
  std::vector<Link> links_;
  std::vector<Further> further_;
  std::vector<Term> terms_;  ///< further ones of rows
  std::vector<Row> rows_;
  std::vector<Term> feeds_;  ///< further ones of slips
  std::vector<Slip> slips_;
  const expr::Program* varying_ = nullptr;      ///< null: nothing varies
  const expr::Program* with_powers_ = nullptr;  ///< the same with powers; null: there is none
  std::vector<Varied> varied_parts_;
  std::vector<double> varied_, sources_;
  std::vector<double> fixed_;  ///< by place of the outcome: what does not change
};

}  // namespace judder::engines
