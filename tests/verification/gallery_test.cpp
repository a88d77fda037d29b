// Every bundled model against its published and derived values; and the gate: one number of the model changed by one per cent must be noticed.
// Long models are left out of instrumented builds.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "judder/io/gallery.hpp"
#include "judder/io/verify.hpp"

namespace judder {
namespace {

const std::filesystem::path kGallery = JUDDER_SOURCE_DIR "/gallery";

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const io::GalleryModel& model : io::list_gallery(kGallery)) out.push_back(model.name);
  return out;
}

bool too_long_here(const std::string& name) {
#ifdef JUDDER_SLOW_BUILD
  static const std::set<std::string> kLong{"dither-sine",   "dither-square", "dither-stability",
                                           "elastoplastic", "klarbring",     "pilger-mill"};
  return kLong.count(name) > 0;
#else
  static_cast<void>(name);
  return false;
#endif
}

class Gallery : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (too_long_here(GetParam()))
      GTEST_SKIP() << "This model takes too long with sanitizers or coverage; the release build runs it.";
  }
};

TEST_P(Gallery, GivesItsPublishedValues) {
  const io::ModelVerification result = io::verify_model(kGallery, GetParam());
  EXPECT_GT(result.verification.outcomes.size(), 0U) << result.problem;
  EXPECT_TRUE(result.ok()) << io::verification_text(result, true);
}

TEST_P(Gallery, NoticesAChangeOfOnePerCent) {
  const io::ReferenceFile reference = io::read_reference(kGallery / GetParam() / "reference.toml");
  ASSERT_TRUE(reference.reference.perturb.has_value()) << "reference.toml names nothing to perturb";
  EXPECT_NEAR(reference.reference.perturb->factor, 1.01, 1e-12);
  analysis::VerifyOptions options;
  options.perturb = reference.reference.perturb;
  options.first_failure = true;
  const io::ModelVerification result = io::verify_model(kGallery, GetParam(), options);
  // A model that no longer compiles or runs would fail too, but prove nothing.
  const auto noticed = [](const analysis::Outcome& outcome) {
    return outcome.verdict == analysis::Verdict::off && outcome.deviation().value_or(0) != 0;
  };
  EXPECT_TRUE(std::any_of(result.verification.outcomes.begin(), result.verification.outcomes.end(), noticed))
      << options.perturb->name << " times " << options.perturb->factor
      << " changes no value beyond its tolerance\n"
      << io::verification_text(result, true);
}

INSTANTIATE_TEST_SUITE_P(, Gallery, ::testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace judder
