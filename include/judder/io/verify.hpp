// The bundled models against their published values: reads a folder of the gallery, verifies it, and shows the result as a table or as JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judder/analysis/verify.hpp"
#include "judder/io/reference_file.hpp"

namespace judder::io {

struct ModelVerification {
  std::string name;  ///< of the folder
  ReferenceFile reference;
  std::string problem;  ///< not empty: a file that cannot be read, with every message
  analysis::Verification verification;

  ModelVerification() = default;
  ModelVerification(ModelVerification&&) =
      default;  // outcomes point into the reference, whose values do not move
  ModelVerification& operator=(ModelVerification&&) = default;
  [[nodiscard]] bool ok() const { return problem.empty() && verification.failed() == 0; }
};

/// All writings (model.toml, model-*.toml) of gallery/name against gallery/name/reference.toml.
[[nodiscard]] ModelVerification verify_model(const std::filesystem::path& gallery, const std::string& name,
                                             const analysis::VerifyOptions& options = {});

/// The table of one model: label, published, computed, exact, deviation, verdict; below it why a value is off. `only_failures` leaves out
/// what is right, and gives an empty text if all is.
[[nodiscard]] std::string verification_text(const ModelVerification& model, bool only_failures = false);

/// "1786 passed, 0 failed"
[[nodiscard]] std::string verification_summary(const std::vector<ModelVerification>& models);

[[nodiscard]] std::string verification_json(const std::vector<ModelVerification>& models);

}  // namespace judder::io
