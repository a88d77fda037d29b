// Every bundled model against its published and derived values; and the gate: one number of the model changed by one per cent must be noticed.
// Long models are left out of instrumented builds.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "judder/io/gallery.hpp"
#include "judder/tasks/verify.hpp"

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

tasks::VerifyRequest request(const std::string& name) {
  return {kGallery / name, kGallery / name / "reference.toml"};
}

class Gallery : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (too_long_here(GetParam()))
      GTEST_SKIP() << "This model takes too long with sanitizers or coverage; the release build runs it.";
  }
};

TEST_P(Gallery, GivesItsPublishedValues) {
  const tasks::ModelVerification result = tasks::verify_model(request(GetParam()));
  EXPECT_GT(result.verification.outcomes.size(), 0U) << result.problem;
  EXPECT_TRUE(result.ok()) << tasks::verification_text(result, true);
}

TEST_P(Gallery, NoticesAChangeOfOnePerCent) {
  const io::ReferenceFile reference = io::read_reference(request(GetParam()).reference);
  ASSERT_TRUE(reference.reference.perturb.has_value()) << "reference.toml names nothing to perturb";
  EXPECT_NEAR(reference.reference.perturb->factor, 1.01, 1e-12);
  tasks::VerifyRequest perturbed = request(GetParam());
  perturbed.options.perturb = reference.reference.perturb;
  perturbed.options.first_failure = true;
  const tasks::ModelVerification result = tasks::verify_model(perturbed);
  // A model that no longer compiles or runs would fail too, but prove nothing.
  const auto noticed = [](const analysis::Outcome& outcome) {
    return outcome.verdict == analysis::Verdict::off && outcome.deviation().value_or(0) != 0;
  };
  EXPECT_TRUE(std::any_of(result.verification.outcomes.begin(), result.verification.outcomes.end(), noticed))
      << perturbed.options.perturb->name << " times " << perturbed.options.perturb->factor
      << " changes no value beyond its tolerance\n"
      << tasks::verification_text(result, true);
}

INSTANTIATE_TEST_SUITE_P(, Gallery, ::testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace judder
