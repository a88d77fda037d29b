#include "io/manifest.hpp"

#include "io/disk.hpp"
#include "io/json_values.hpp"

namespace judder::io {
namespace {

using Json = nlohmann::ordered_json;

Json entry(const CommittedFile& file, bool table) {
  Json out = object("bytes", file.bytes, "check", file.check);
  if (table) out["records"] = file.records;
  return out;
}

bool read_entry(const ReadJson& files, const std::string& name, bool table, CommittedFile& out) {
  const auto found = files.find(name);
  if (found == files.end() || !found->is_object()) return false;
  const auto whole = [&](const char* key, std::uint64_t& target) {
    const auto value = found->find(key);
    if (value == found->end() || !value->is_number_unsigned()) return false;
    target = value->get<std::uint64_t>();
    return target <= (std::uint64_t{1} << 62U);
  };
  const auto check = found->find("check");
  if (check == found->end() || !check->is_string()) return false;
  out.check = check->get<std::string>();
  return whole("bytes", out.bytes) && (!table || whole("records", out.records));
}

constexpr std::string_view kBegin = "{\n \"check\": \"";
constexpr std::size_t kDigits = 16;
constexpr std::string_view kEnd = "\",\n";

std::string check_text(std::string_view bytes) {
  disk::Check check;
  check.add(bytes);
  return check.text();
}

}  // namespace

std::string with_manifest(std::string_view state_json, const Manifest& manifest) {
  if (state_json.empty() || state_json.front() != '{') return std::string(state_json);
  std::string files =
      json_text(object(kTrajectory.c_str(), entry(manifest.trajectory, true), kEvents.c_str(),
                       entry(manifest.events, true), kRun.c_str(), entry(manifest.run, false)),
                -1);
  files.pop_back();  // the end of line
  const std::string_view rest = state_json.substr(1);
  const bool alone = rest.find_first_not_of(" \t\r\n") == rest.find('}');
  const std::string text = " \"files\": " + files + (alone ? "" : ",") + std::string(rest);
  return std::string(kBegin) + check_text(text) + std::string(kEnd) + text;
}

std::string damage_of(std::string_view state_json) {
  const auto starts = [&](std::size_t at, std::string_view with) {
    return state_json.size() >= at + with.size() && state_json.compare(at, with.size(), with) == 0;
  };
  const std::size_t behind = kBegin.size() + kDigits + kEnd.size();
  if (starts(0, kBegin) && starts(kBegin.size() + kDigits, kEnd) &&
      state_json.substr(kBegin.size(), kDigits) == check_text(state_json.substr(behind))) {
    // Whoever can write a check can leave out the list, or name a member of it twice.
    if (read_manifest(state_json)) return {};
    return "is no state that a run writes: the list of its files is missing or wrong, or a name stands in it "
           "twice; take it from a copy of the folder, or run the model anew";
  }
  if (!starts(0, kBegin)) {
    const ReadJson in = ReadJson::parse(state_json, nullptr, false);
    if (!in.is_object())
      return "is damaged: it is empty, cut or no state at all; take it from a copy of the folder";
    const ReadJson format = in.value("format", ReadJson());
    if (!in.contains("check") && (format == 1 || format == 2)) return {};
  }
  return "is damaged: its check does not fit, so that it was changed or cut after a run wrote it; take it "
         "from a "
         "copy of the folder, or run the model anew";
}

std::optional<Manifest> read_manifest(std::string_view state_json) {
  std::string twice;
  const ReadJson in = parse_unique(state_json, twice);
  if (!in.is_object()) return std::nullopt;
  const auto files = in.find("files");
  if (files == in.end() || !files->is_object()) return std::nullopt;
  Manifest out;
  if (!read_entry(*files, kTrajectory, true, out.trajectory) ||
      !read_entry(*files, kEvents, true, out.events) || !read_entry(*files, kRun, false, out.run))
    return std::nullopt;
  return out;
}

bool written_by_us(std::string_view run_json) {
  const ReadJson in = ReadJson::parse(run_json, nullptr, false);
  if (!in.is_object()) return false;
  const auto program = in.find("program");
  if (program == in.end() || !program->is_object()) return false;
  const auto name = program->find("name");
  return name != program->end() && *name == "judder";
}

}  // namespace judder::io
