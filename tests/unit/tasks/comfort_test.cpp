// What makes single runs handy: runs without a folder, windows of the summary, another impact law, the collision of a recorded event, the first model, the doctor.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "judder/io/new_model.hpp"
#include "judder/io/ranges.hpp"
#include "judder/io/reader.hpp"
#include "judder/tasks/doctor.hpp"
#include "judder/tasks/impacts.hpp"
#include "judder/tasks/run.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;

class Comfort : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("judder-comfort-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] RunRequest request(const std::string& name) const {
    RunRequest out;
    out.model.file = fs::path(JUDDER_SOURCE_DIR "/gallery") / name / "model.toml";
    out.output = folder_ / "out";
    return out;
  }
  [[nodiscard]] fs::path write(const std::string& text) const {
    const fs::path file = folder_ / "model.toml";
    std::ofstream(file) << text;
    return file;
  }

  fs::path folder_;
};

const io::Extremes* extremes_of(const RunReport& report, const std::string& column) {
  for (const io::Extremes& each : report.extremes) {
    if (each.name == column) return &each;
  }
  return nullptr;
}

TEST_F(Comfort, ARunWithoutAFolderTellsTheSame) {
  const RunReport written = run_model(request("press"));
  ASSERT_EQ(written.stage, RunStage::ended) << written.files.text();
  RunRequest quiet = request("press");
  quiet.write = false;
  quiet.output.clear();
  const auto count = [&] { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); };
  const auto before = count();
  const RunReport told = run_model(quiet);
  EXPECT_EQ(told.stage, RunStage::ended);
  EXPECT_EQ(count(), before);
  EXPECT_FALSE(fs::exists("runs"));
  EXPECT_TRUE(told.folder.empty());
  EXPECT_EQ(told.event_count, written.event_count);
  EXPECT_EQ(told.row_count, written.row_count);
  EXPECT_EQ(told.summary.status.reason, Reason::done);
  ASSERT_EQ(told.events.size(), written.events.size());
  for (std::size_t i = 0; i < told.events.size(); ++i) EXPECT_EQ(told.events[i].time, written.events[i].time);
  // The same words but for the folder and the time that it took.
  EXPECT_EQ(run_text(told).find(folder_.string()), std::string::npos);
}

// Each window has the extremes of its part: x = sin t, so they are known.
TEST_F(Comfort, TheSummaryOfAPartHasTheExtremesOfThatPart) {
  RunRequest wanted;
  wanted.model.file = write(
      "format = 1\n[coordinates]\nx = { start = 0, velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\npotential "
      "= \"x^2/2\"\n"
      "[[watch]]\nname = \"middle\"\nzero = \"x\"\n[run]\nuntil = 10\n[output]\nsamples = 7\n");
  wanted.output = folder_ / "out";
  wanted.extremes_between_rows = true;
  wanted.summary_from = 2;
  wanted.summary_to = 4;
  const RunReport part = run_model(wanted);
  ASSERT_EQ(part.stage, RunStage::ended) << part.files.text();
  const io::Extremes* const x = extremes_of(part, "x");
  ASSERT_NE(x, nullptr);
  EXPECT_NEAR(x->most, std::sin(2.0), 1e-8);
  EXPECT_NEAR(x->least, std::sin(4.0), 1e-8);
  const io::Extremes* const v = extremes_of(part, "x'");
  ASSERT_NE(v, nullptr);
  EXPECT_NEAR(v->least, -1, 1e-8) << "between rows, of which there are seven";
  EXPECT_NEAR(v->least_time, std::acos(-1.0), 1e-3);
  // The events of the part are π; the folder has all three.
  ASSERT_EQ(part.events.size(), 1U);
  EXPECT_NEAR(part.events[0].time, std::acos(-1.0), 1e-8);
  EXPECT_EQ(part.event_count, 3U);
  const std::string text = run_markdown(part);
  EXPECT_NE(text.find("from t = 2 to t = 4"), std::string::npos) << text;
  EXPECT_EQ(text.find("more in events.csv"), std::string::npos) << text;
  EXPECT_NE(text.find("Of the part of the run: "), std::string::npos) << text;

  // What is kept to go on from is of the whole run.
  wanted.summary_from.reset();
  wanted.summary_to.reset();
  wanted.resume = wanted.output;
  wanted.until = 11;
  const RunReport whole = run_model(wanted);
  ASSERT_EQ(whole.stage, RunStage::ended) << whole.files.text();
  const io::Extremes* const all = extremes_of(whole, "x");
  ASSERT_NE(all, nullptr);
  EXPECT_GT(all->most, 0.98) << "of the rows of the first part, outside its window, too";
}

// A rod whose slip stops inside the impact, by its own law (stronge) and by others: all impulses are known, and the run with another law has its impulse.
TEST_F(Comfort, AnotherLawForAllContactsOfARun) {
  RunRequest wanted = request("rod-impact");
  wanted.model.variants = {"T22"};
  model::Named e;
  e.name = std::string("e");
  e.value = model::Value(1.0);
  wanted.model.set = {e};
  wanted.until = 1e-6;
  const std::pair<const char*, double> laws[] = {
      {"", 1.3212556}, {"moreau", 1.46262024}, {"poisson", 1.30024047}, {"stronge", 1.3212556}};
  for (const auto& [law, impulse] : laws) {
    wanted.model.impact_law = law;
    wanted.output = folder_ / ("law" + std::string(law));
    const RunReport report = run_model(wanted);
    ASSERT_EQ(report.stage, RunStage::ended) << report.files.text();
    ASSERT_FALSE(report.events.empty());
    EXPECT_NEAR(report.events[0].normal_impulse, impulse, 1e-8) << law;
  }
  // A model without a rigid contact has nothing that could be replaced.
  wanted = request("friction-oscillator");
  wanted.model.impact_law = "poisson";
  const RunReport none = run_model(wanted);
  EXPECT_EQ(none.stage, RunStage::model_invalid);
  EXPECT_TRUE(none.model.misused);
}

// The state before each impact is found again: the law of the model gives the impulse that the run has recorded.
TEST_F(Comfort, TheCollisionOfARecordedEvent) {
  std::size_t looked = 0;
  for (const char* name :
       {"press", "bouncing-ball", "rocking-block", "impact-oscillator", "newton-cradle", "two-stops"}) {
    RunRequest wanted = request(name);
    wanted.output = folder_ / name;
    const RunReport report = run_model(wanted);
    ASSERT_EQ(report.stage, RunStage::ended) << report.files.text();
    for (std::size_t i = 0; i < std::min<std::size_t>(report.events.size(), 60); ++i) {
      const io::Event& event = report.events[i];
      const MetImpact found = read_met_impact(report.folder, static_cast<long>(i) + 1);
      if (event.kind != "impact") {
        EXPECT_NE(found.problem, "") << name << " " << i + 1;
        continue;
      }
      if (found.problem.find("at the same instant") != std::string::npos) continue;
      ASSERT_EQ(found.problem, "") << name << " " << i + 1;
      ASSERT_TRUE(found.model.ok()) << name;
      const model::System& system = *found.model.compiled.system;
      const analysis::Impacts impacts = analysis::impacts(system, found.met);
      ASSERT_EQ(impacts.outcome, analysis::ImpactsOutcome::collision)
          << name << " " << i + 1 << impacts.reason;
      for (std::size_t c = 0; c < impacts.contacts.size(); ++c) {
        if (impacts.contacts[c].name != event.where) continue;
        const model::Relation& relation =
            system.relations()[static_cast<std::size_t>(impacts.contacts[c].relation)];
        for (const analysis::LawImpact& law : impacts.laws) {
          if (law.law != judder::name(relation.impact)) continue;
          EXPECT_NEAR(law.contacts[c].normal_impulse, event.normal_impulse,
                      1e-7 * (1e-3 + event.normal_impulse))
              << name << " " << i + 1;
          ++looked;
        }
      }
    }
  }
  EXPECT_GT(looked, 60U);
}

// A block slides along the floor into a wall. The floor gets no impulse, so no row tells of it; it is closed all the same, and takes part.
TEST_F(Comfort, ContactsThatWereClosedTakePartInARecordedCollision) {
  RunRequest wanted;
  wanted.model.file = write(
      "format = 1\n[coordinates]\nx = { start = 0, velocity = 2 }\ny = 0\n[energy]\nkinetic = \"(x'^2 + "
      "y'^2)/2\"\n"
      "potential = \"9.81*y\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\nslip = \"x'\"\nfriction = 0.1\n"
      "[[contact]]\nname = \"wall\"\ngap = \"1 - x\"\nimpact = 0.5\n[run]\nuntil = 1\n");
  wanted.output = folder_ / "out";
  const RunReport report = run_model(wanted);
  ASSERT_EQ(report.stage, RunStage::ended) << report.files.text();
  ASSERT_FALSE(report.events.empty());
  ASSERT_EQ(report.events[0].where, "wall");
  const MetImpact found = read_met_impact(report.folder, 1);
  ASSERT_EQ(found.problem, "");
  EXPECT_EQ(found.met.struck, (std::vector<std::string>{"wall"}));
  EXPECT_EQ(found.met.closed, (std::vector<std::string>{"floor"}));
  const analysis::Impacts impacts = analysis::impacts(*found.model.compiled.system, found.met);
  ASSERT_EQ(impacts.contacts.size(), 2U);
  for (const analysis::CollidingContact& contact : impacts.contacts)
    EXPECT_EQ(contact.approaches, contact.name == "wall") << contact.name;
  // v² = 4 − 2·0.981·1
  EXPECT_NEAR(impacts.laws[0].contacts[1].normal_impulse + impacts.laws[0].contacts[0].normal_impulse,
              1.5 * std::sqrt(4 - 2 * 0.981), 1e-9);
}

TEST_F(Comfort, EventsThatAreNoCollisions) {
  const RunReport report = run_model(request("press"));
  ASSERT_EQ(report.stage, RunStage::ended) << report.files.text();
  MetImpact found = read_met_impact(report.folder, 2);
  EXPECT_NE(found.problem.find("event 2 is no impact: slip of 'piston'"), std::string::npos) << found.problem;
  EXPECT_NE(found.help.find("impacts of this run: 1, "), std::string::npos) << found.help;
  found = read_met_impact(report.folder, 1000);
  EXPECT_NE(found.problem.find("there is no event 1000: the run has 51"), std::string::npos) << found.problem;
  EXPECT_FALSE(found.in_files);
  EXPECT_TRUE(read_met_impact(folder_ / "nowhere", 1).in_files);
}

// Without rows at events the folder does not hold the state before one.
TEST_F(Comfort, AFolderWithoutTheStateBefore) {
  RunRequest wanted;
  wanted.model.file = write(
      "format = 1\n[coordinates]\nh = 1\n[energy]\nkinetic = \"h'^2/2\"\npotential = "
      "\"9.81*h\"\n[[contact]]\nname = \"floor\"\ngap = "
      "\"h\"\nimpact = 0.5\n[run]\nuntil = 0.6\n[output]\nevent_rows = false\n");
  wanted.output = folder_ / "out";
  ASSERT_EQ(run_model(wanted).stage, RunStage::ended);
  const MetImpact found = read_met_impact(wanted.output, 1);
  EXPECT_TRUE(found.in_files);
  EXPECT_NE(found.help.find("event_rows"), std::string::npos) << found.problem;
}

TEST(Progress, TellsWhatIsLeftWhenItCanBeKnown) {
  EXPECT_EQ(progress_text(0.005, 3, 10), "0 %, 3 events");
  EXPECT_EQ(progress_text(0.25, 512, 4), "25 %, 512 events, 12 s left");
  EXPECT_EQ(progress_text(0.5, 1, 0.5), "50 %, 1 events");
  EXPECT_EQ(progress_text(0.1, 0, 60), "10 %, 0 events, 9 min left");
  EXPECT_EQ(progress_text(0.02, 0, 600), "2 %, 0 events, 8.2 h left");
  EXPECT_EQ(progress_text(1, 7, 100), "100 %, 7 events");
}

TEST(Values, AreNumbersOrExpressionsOfThem) {
  EXPECT_EQ(io::read_value("0.5"), 0.5);
  EXPECT_DOUBLE_EQ(*io::read_value("2*pi/3"), 2 * std::acos(-1.0) / 3);
  EXPECT_DOUBLE_EQ(*io::read_value("sqrt(2)^2"), 2);
  std::string why;
  EXPECT_FALSE(io::read_value("2*hight", &why));
  EXPECT_NE(why.find("hight"), std::string::npos) << why;
  EXPECT_FALSE(io::read_value("1/0", &why));
  EXPECT_EQ(io::split_list("1e-6, max(1, 2) ,3"), (std::vector<std::string>{"1e-6", "max(1, 2)", "3"}));
  const auto range = io::parse_range("0:2*pi:2*4+1", 100);
  ASSERT_TRUE(range);
  EXPECT_DOUBLE_EQ(range->to, 2 * std::acos(-1.0));
  EXPECT_EQ(range->count, 9);
  EXPECT_NE(io::range_problem("0:x:3", 100, true).find("unknown name 'x'"), std::string::npos)
      << io::range_problem("0:x:3", 100, true);
}

// The first model: its first impact, its speed after it and where it comes to rest have closed forms.
TEST_F(Comfort, TheFirstModelRuns) {
  const fs::path file = folder_ / "models/crate \"1\".toml";
  ASSERT_TRUE(io::write_new_model(file, "crate \"1\"").ok());
  EXPECT_FALSE(io::write_new_model(file, "again").ok()) << "what is there stays";
  const io::ModelFile read = io::read_model(file);
  EXPECT_TRUE(read.diagnostics.all().empty()) << render(read.diagnostics, read.name, read.text, false);
  EXPECT_EQ(read.spec.title.text, "crate \"1\"");
  RunRequest wanted;
  wanted.model.file = file;
  wanted.output = folder_ / "out";
  const RunReport report = run_model(wanted);
  ASSERT_EQ(report.stage, RunStage::ended) << report.files.text();
  EXPECT_TRUE(report.summary.status.ok()) << report.summary.status.message;
  EXPECT_TRUE(report.model.diagnostics.all().empty()) << "no warning";
  ASSERT_FALSE(report.events.empty());
  EXPECT_EQ(report.events[0].kind, "impact");
  EXPECT_NEAR(report.events[0].time, std::sqrt(2 * 0.2 / 9.81), 1e-12);
  // All impulses together take the fall and carry the weight until the end: friction is mu times as much as long as it slides.
  const auto stick = std::find_if(report.events.begin(), report.events.end(),
                                  [](const io::Event& event) { return event.kind == "stick"; });
  ASSERT_NE(stick, report.events.end());
  EXPECT_NEAR(stick->time, 3 / (0.2 * 9.81), 1e-8)
      << "sum of normal impulses = m g t + m v_y, v_y = 0 at rest";
  // Every table that a comment offers is taken when its mark is removed.
  std::string text = io::new_model_text("x");
  for (const char* line : {"# [[force]]", "# name  = \"push\"", "# along = \"x'\"",
                           "# value = \"5*sin(2*t)\"", "# [[friction]]", "# name   = \"guide\"",
                           "# slip   = \"x'\"", "# normal = 10", "# law    = {", "# engine = \"auto\""}) {
    const std::size_t at = text.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    text.erase(at, 2);
  }
  RunRequest more;
  more.model.file = write(text);
  more.output = folder_ / "more";
  const RunReport all = run_model(more);
  EXPECT_EQ(all.stage, RunStage::ended) << render(all.model.diagnostics, "model", text, false);
  EXPECT_TRUE(all.summary.status.ok()) << all.summary.status.message;
}

const Checkup* about(const std::vector<Checkup>& findings, const std::string& subject) {
  for (const Checkup& each : findings) {
    if (each.subject == subject) return &each;
  }
  return nullptr;
}

TEST_F(Comfort, TheDoctorFindsWhatIsThereAndWhatIsNot) {
  DoctorRequest request;
  request.gallery = JUDDER_SOURCE_DIR "/gallery";
  request.here = folder_;
  fs::create_directories(folder_ / "bin");
  std::ofstream(folder_ / "bin/mpirun") << "#!/bin/sh\n";
  ::chmod((folder_ / "bin/mpirun").c_str(), 0755);
  request.search_path = "/nowhere:" + (folder_ / "bin").string();
  request.with_mpi = true;
  std::ofstream(folder_ / "bin/google-chrome") << "#!/bin/sh\n";
  ::chmod((folder_ / "bin/google-chrome").c_str(), 0755);
  fs::create_directories(folder_ / "packages/numpy");
  fs::create_directories(folder_ / "packages/matplotlib");
  std::ofstream(folder_ / "packages/numpy/__init__.py") << "\n";
  request.python_folders = {folder_ / "none", folder_ / "packages"};
  request.solver = folder_ / "live";
  std::vector<Checkup> found = examine(request);
  using Kind = Checkup::Kind;
  ASSERT_NE(about(found, "gallery"), nullptr);
  EXPECT_EQ(about(found, "gallery")->kind, Kind::good) << about(found, "gallery")->text;
  EXPECT_EQ(about(found, "arithmetic")->kind, Kind::good) << about(found, "arithmetic")->text;
  EXPECT_EQ(about(found, "mpirun")->kind, Kind::good);
  EXPECT_EQ(about(found, "python3")->kind, Kind::missing);
  EXPECT_EQ(about(found, "python3")->help, "apt install python3");
  EXPECT_EQ(about(found, "this folder")->kind, Kind::good) << about(found, "this folder")->text;
  EXPECT_NE(doctor_text(found).find("0 wrong, 5 missing"), std::string::npos) << doctor_text(found);
  EXPECT_EQ(about(found, "chromium")->kind, Kind::good) << "by another name";
  EXPECT_EQ(about(found, "ffmpeg")->help, "apt install ffmpeg");
  EXPECT_EQ(about(found, "live solver")->kind, Kind::good);
  EXPECT_EQ(about(found, "python numpy")->kind, Kind::good);
  EXPECT_EQ(about(found, "python matplotlib")->kind, Kind::missing) << "a folder without a package in it";
  EXPECT_EQ(about(found, "python judder")->kind, Kind::missing);

  request.gallery = folder_ / "bin";
  request.search_path.clear();
  request.solver.clear();
  request.here = folder_ / "nowhere";
  found = examine(request);
  EXPECT_EQ(about(found, "gallery")->kind, Kind::missing);
  EXPECT_EQ(about(found, "mpirun")->kind, Kind::missing);
  EXPECT_EQ(about(found, "chromium")->kind, Kind::missing);
  EXPECT_NE(about(found, "live solver")->help.find("scripts/live"), std::string::npos);
  EXPECT_EQ(about(found, "this folder")->kind, Kind::wrong);
  EXPECT_NE(doctor_json(found).find("\"state\": \"wrong\""), std::string::npos);
}

// A picture of the run that was there before is not one of this run.
TEST_F(Comfort, OldPicturesBesideANewRunAreNamed) {
  const RunRequest asked = request("bouncing-ball");
  const RunReport first = run_model(asked);
  ASSERT_EQ(first.stage, RunStage::ended) << first.files.text();
  EXPECT_EQ(old_pictures_text(first, false), "");
  EXPECT_EQ(old_pictures_text(run_model(asked), false), "");
  for (const char* name : {"report.html", "motion.svg", "motion.pdf", "notes.txt"})
    std::ofstream(asked.output / name) << "x";
  const RunReport second = run_model(asked);
  ASSERT_EQ(second.stage, RunStage::ended) << second.files.text();
  EXPECT_NE(old_pictures_text(second, false).find(": motion.pdf, motion.svg, report.html;"),
            std::string::npos)
      << old_pictures_text(second, false);
  EXPECT_NE(old_pictures_text(second, true).find(": motion.pdf, motion.svg;"), std::string::npos);
  EXPECT_TRUE(fs::exists(asked.output / "motion.svg"));
  RunRequest without = asked;
  without.write = false;
  EXPECT_EQ(old_pictures_text(run_model(without), false), "");
}

}  // namespace
}  // namespace judder::tasks
