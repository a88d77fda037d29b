#include "judder/io/run_place.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "io/disk.hpp"
#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/run_head.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

/// What may stand in the name of a folder: no separators, nothing that a terminal or a shell takes for a command, no leading dot.
bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (std::isalnum(byte) != 0) ||
         std::string_view("_-.+=,' ").find(c) != std::string_view::npos;
}

std::string with_check(const std::string& name, const std::string& of) {
  disk::Check check;
  check.add(of);
  return name + "-" + check.text().substr(0, 8);
}

/// One name, of a length that every file system takes. What was changed is told apart by a check of the original, and so is what could be read in
/// two ways: `parts` tells them apart then.
std::string folder_name(const std::string& wanted, const std::string& parts) {
  constexpr std::size_t kLongest = 120;
  std::string out = printable_name(wanted, wanted.size() + 1);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !plain(c); }, '_');
  if (out.empty() || out.front() == '.') out.insert(out.begin(), '_');
  if (out.size() > kLongest) {
    out.resize(kLongest);
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0U) out.pop_back();
  }
  if (!parts.empty()) return with_check(out, parts);
  return out == wanted ? out : with_check(out, wanted);
}

/// What tells the run of a model file with its variants and settings from every other, for a check.
std::string parts_of(const ModelRequest& request, const std::string& model) {
  std::string out = model;
  for (const std::string& variant : request.variants) out += "\n--variant\n" + variant;
  for (const model::Named& named : request.set)
    out += "\n--set\n" + named.name.text + "=" +
           (named.value.number ? to_text(*named.value.number) : named.value.text.text);
  if (!request.impact_law.empty()) out += "\n--law\n" + request.impact_law;
  return out;
}

fs::path whole_path(const fs::path& file) {
  std::error_code error;
  return fs::absolute(file, error).lexically_normal();
}

/// Where a run without -o goes. The name of one model can be that of another with a variant (press-wet.toml; press.toml --variant wet), or of
/// one of the same name elsewhere: whoever finds the folder taken by the other goes beside it, always to the same place.
fs::path folder_of(const ModelRequest& request, const fs::path& resume, const StateOwner& owner) {
  fs::path folder = default_run_folder(request, resume);
  if (!resume.empty() || other_run(folder, request, owner).empty()) return folder;
  return folder.parent_path() /
         with_check(folder.filename().string(), parts_of(request, whole_path(request.file).string()));
}

/// A variant is named by the author of the model, not by the user: where its name is no name of a folder, the user says where the run goes.
std::string variant_problem(const ModelRequest& request) {
  for (const std::string& variant : request.variants) {
    const bool named = !variant.empty() && variant.front() != '.' &&
                       std::all_of(variant.begin(), variant.end(), plain) &&
                       printable_name(variant, variant.size() + 1) == variant;
    if (!named)
      return "the name of the variant '" + variant +
             "' cannot be part of the name of a folder; choose one with -o";
  }
  return {};
}

}  // namespace

std::string other_run(const fs::path& folder, const ModelRequest& request, const StateOwner& owner) {
  std::string text;
  if (!read_run_json(folder, text).ok()) return {};
  const RunHead head = read_run_head(text);
  if (head.file.empty()) return {};
  std::error_code error;
  const bool same_file =
      whole_path(head.file) == whole_path(request.file) || fs::equivalent(head.file, request.file, error);
  // Of two settings of one name the last counts.
  std::map<std::string, std::string> last;
  for (const auto& [name, value] : owner.set) last[name] = value;
  std::set<std::string> now;
  for (const auto& [name, value] : last) now.insert(name + "=" + value);
  if (same_file && head.variants == request.variants &&
      std::set<std::string>(head.settings.begin(), head.settings.end()) == now)
    return {};
  std::string out = "a run of " + head.file;
  for (const std::string& variant : head.variants) out += " --variant " + variant;
  for (const std::string& setting : head.settings) out += " --set " + setting;
  return out;
}

fs::path default_run_folder(const ModelRequest& request, const fs::path& resume) {
  if (!resume.empty()) {
    fs::path folder = resume;
    if (!folder.has_filename()) folder = folder.parent_path();  // "runs/press/"
    folder += "-resumed";
    return folder;
  }
  std::string name = request.file.stem().string();
  if (name == "model") {
    std::error_code error;
    const std::string parent =
        fs::absolute(request.file, error).lexically_normal().parent_path().filename().string();
    if (!parent.empty()) name = parent;
  }
  // A variant with a sign in its name that stands between the parts, or in a setting, could be two of them.
  const auto unclear = [](const std::string& variant) {
    return variant.find_first_of("-=") != std::string::npos;
  };
  const bool ambiguous = std::any_of(request.variants.begin(), request.variants.end(), unclear);
  const std::string parts = ambiguous ? parts_of(request, name) : std::string();
  for (const std::string& variant : request.variants) name += "-" + variant;
  for (const model::Named& named : request.set)
    name += "-" + named.name.text + "=" +
            (named.value.number ? to_text(*named.value.number) : named.value.text.text);
  if (!request.impact_law.empty()) name += "-law=" + request.impact_law;
  return fs::path("runs") / folder_name(name, parts);
}

FileStatus choose_run_folder(const ModelRequest& request, const fs::path& resume, const StateOwner& owner,
                             fs::path& folder) {
  if (const std::string problem = variant_problem(request); !problem.empty() && resume.empty())
    return {"runs", problem, 0};
  folder = folder_of(request, resume, owner);
  // A link that came with somebody's files would choose where the run goes; one's own is meant when it is named.
  std::error_code error;
  const fs::path above = folder.parent_path();
  const fs::file_type kind =
      resume.empty() ? fs::symlink_status(above, error).type() : fs::file_type::directory;
  if (kind == fs::file_type::none) return {above.string(), disk::not_read(error.value()), 0};
  if (kind == fs::file_type::symlink)
    return {above.string(),
            "is a symbolic link, which is followed only if you name it: -o " + folder.string(), 0};
  return {};
}

FileStatus find_place(const fs::path& resume, const fs::path& output, bool& in_place) {
  in_place = false;
  if (output.empty()) return {};
  if (const int error = disk::same_place(resume, output, in_place); error != 0)
    return {output.string(), disk::not_read(error), 0};
  bool nameless = false;
  if (const int error = disk::same_place(resume, hidden_folder(output), nameless); error != 0)
    return {resume.string(), disk::not_read(error), 0};
  if (!in_place && nameless)
    return {resume.string(),
            "is the run that could not get the name " + output.string() + ": rename it, and go on there", 0};
  return {};
}

}  // namespace judder::io
