// A folder of models against the values published for them: from the files to the verdicts, and these as a table or as JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judder/analysis/verify.hpp"
#include "judder/io/reference_file.hpp"

namespace judder::tasks {

struct VerifyRequest {
  std::filesystem::path folder;       ///< with the writings of one model: model.toml, model-*.toml
  std::filesystem::path reference{};  ///< the values that they are held against
  analysis::VerifyOptions options{};
};

struct ModelVerification {
  std::string name;  ///< of the folder
  io::ReferenceFile reference;
  std::string problem;  ///< not empty: a file that cannot be read, with every message
  analysis::Verification verification;

  ModelVerification() = default;
  ModelVerification(ModelVerification&&) =
      default;  // outcomes point into the reference, whose values do not move
  ModelVerification& operator=(ModelVerification&&) = default;
  [[nodiscard]] bool ok() const { return problem.empty() && verification.failed() == 0; }
};

[[nodiscard]] ModelVerification verify_model(const VerifyRequest& request);

/// The table of one model: label, published, computed, exact, deviation, verdict; below it why a value is off. `only_failures` leaves out
/// what is right, and gives an empty text if all is.
[[nodiscard]] std::string verification_text(const ModelVerification& model, bool only_failures = false);

/// "1786 passed, 0 failed"
[[nodiscard]] std::string verification_summary(const std::vector<ModelVerification>& models);

[[nodiscard]] std::string verification_json(const std::vector<ModelVerification>& models);

}  // namespace judder::tasks
