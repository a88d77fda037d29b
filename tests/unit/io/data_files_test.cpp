#include "io/data_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "judder/io/reader.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::vector<double>>;

class DataFilesOfAModel : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("judder-data-" + std::to_string(getpid()));
    fs::create_directories(folder_ / "inside" / "deeper");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / "inside" / name, std::ios::binary) << text;
  }
  [[nodiscard]] NumberTable read(const std::string& name) const {
    return read_number_file(folder_ / "inside", name);
  }

  fs::path folder_;
};

TEST_F(DataFilesOfAModel, CsvWithAndWithoutNames) {
  write("a.csv", "time, force\r\n0, 1.5\r\n1, -2e3\r\n");
  write("b.csv", "1\n2\n3\n");
  EXPECT_EQ(read("a.csv").rows, (Rows{{0, 1.5}, {1, -2000}}));
  EXPECT_EQ(read("b.csv").rows, (Rows{{1}, {2}, {3}}));
}

// A row above the numbers is one of names: what was meant to be a number is none, and is not passed over.
TEST_F(DataFilesOfAModel, AFirstRowThatIsNotNamesIsAnError) {
  for (const char* names :
       {"t,F\n", "t [s],\"F, N\"\n", "# t, F\n", "\u03b8,\n", "nanometres,info\n", "-x,+y\n", "Na,e5\n"}) {
    write("good.csv", std::string(names) + "1,2\n");
    EXPECT_EQ(read("good.csv").rows, (Rows{{1, 2}})) << names << read("good.csv").problem;
  }
  for (const char* bad : {"nan,1\n", "1,nan\n", "NaN,inf\n", "-inf,x\n", "t,1\n", ",1\n", ",\n", "1.2.3,F\n",
                          "t,5e\n", "0x10,F\n", "+Infinity,F\n", ".,F\n"}) {
    write("bad.csv", std::string(bad) + "1,2\n");
    const std::string problem = read("bad.csv").problem;
    EXPECT_NE(problem.find("bad.csv, line 1: "), std::string::npos) << bad << problem;
    EXPECT_NE(problem.find("the first row is names, or numbers like the others"), std::string::npos)
        << problem;
  }
}

TEST_F(DataFilesOfAModel, MatrixMarketForms) {
  write("general.mtx",
        "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 3\n1 1 1.5\n2 3 -4\n1 2 1e-3\n");
  write("symmetric.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 7\n");
  write("skew.mtx", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n");
  write("array.mtx", "%%matrixmarket MATRIX array real general\n2 2\n1\n2\n3\n4\n");
  write("half.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
  EXPECT_EQ(read("general.mtx").rows, (Rows{{1.5, 1e-3, 0}, {0, 0, -4}}));
  EXPECT_EQ(read("symmetric.mtx").rows, (Rows{{3, 7}, {7, 0}}));
  EXPECT_EQ(read("skew.mtx").rows, (Rows{{0, -1, -2}, {1, 0, -3}, {2, 3, 0}}));
  EXPECT_EQ(read("array.mtx").rows, (Rows{{1, 3}, {2, 4}}));  // by columns
  EXPECT_EQ(read("half.mtx").rows, (Rows{{1, 2}, {2, 3}}));
}

TEST_F(DataFilesOfAModel, MatricesInCoordinateFormStaySparseOnRequest) {
  write("symmetric.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n90000 90000 3\n90000 1 7\n1 1 3\n2 1 -1\n");
  const NumberTable table = read_number_file(folder_ / "inside", "symmetric.mtx", true);
  ASSERT_EQ(table.problem, "");
  EXPECT_TRUE(table.sparse);
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.row_count, 90000);
  const std::vector<std::array<double, 3>> expected{
      {0, 0, 3}, {0, 1, -1}, {0, 89999, 7}, {1, 0, -1}, {89999, 0, 7}};
  ASSERT_EQ(table.entries.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(table.entries[k].row, expected[k][0]);
    EXPECT_EQ(table.entries[k].column, expected[k][1]);
    EXPECT_EQ(table.entries[k].value, expected[k][2]);
  }
  EXPECT_NE(read("symmetric.mtx").problem, "") << "too large to be filled up with zeros";
  write("twice.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n1 2 4\n");
  EXPECT_EQ(read_number_file(folder_ / "inside", "twice.mtx", true).problem,
            "twice.mtx, line 4: this entry was given before");
  write("many.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1000001\n");
  EXPECT_NE(read_number_file(folder_ / "inside", "many.mtx", true).problem, "");
}

TEST_F(DataFilesOfAModel, MalformedFilesNameTheirLine) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"1,2\n3,x\n", "bad, line 2: 'x' is not a finite number"},
      {"1,2\n3,\n", "bad, line 2: '' is not a finite number"},
      {"1\nnan\n", "bad, line 2: 'nan' is not a finite number"},
      {"a,b\nc,d\n", "bad, line 2: 'c' is not a finite number"},
      {"%%MatrixMarket matrix coordinate real general\n2 2\n",
       "bad, line 2: expected the numbers of rows, columns and entries"},
      {"%%MatrixMarket matrix array real general\n2 -2\n", "bad, line 2: the sizes"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n1 2 4\n",
       "bad, line 4: this entry was given before"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 7\n",
       "bad, line 4: of a symmetric matrix only the lower triangle is listed"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 1 5\n2 1 3\n",
       "bad, line 3: the diagonal of a skew-symmetric matrix is zero"},
      {"%%MatrixMarket matrix array real symmetric\n2 3\n", "bad, line 2: a symmetric matrix must be square"},
      {"%%MatrixMarket matrix array real general\n1 2\n1\ninf\n",
       "bad, line 4: 'inf' is not a finite number"},
      {"%%MatrixMarket matrix array real general\n1 2\n1\n1 2\n", "bad, line 4: expected one finite number"},
      {"%%MatrixMarket matrix array real general\n1 2\n1\n1e-320\n",
       "bad, line 4: '1e-320' is too small for a number"},
      {"%%MatrixMarket matrix array integer general\n1 2\n1\n2.0\n", "bad, line 4: '2.0' is no whole number"},
      {"%%MatrixMarket matrix array integer general\n1 2\n1\n10000000000000000\n",
       "bad, line 4: '10000000000000000' is too large for a whole number"},
      {"%%MatrixMarket matrix array real general\n1 1\n1\n2\n", "bad, line 4: more entries than announced"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5\n", "bad, line 3: expected row, column"},
  };
  for (const auto& [text, message] : cases) {
    write("bad", text);
    const NumberTable table = read("bad");
    EXPECT_EQ(table.problem.substr(0, message.size()), message) << text;
  }
}

TEST_F(DataFilesOfAModel, NothingOutsideTheFolderIsRead) {
  std::ofstream(folder_ / "secret.csv") << "1\n";
  std::ofstream(folder_ / "inside-not.csv") << "1\n";
  write("deeper/good.csv", "1\n2\n");
  fs::create_symlink(folder_ / "secret.csv", folder_ / "inside" / "link.csv");
  fs::create_directory_symlink(folder_, folder_ / "inside" / "up");
  fs::create_symlink(folder_ / "inside" / "deeper" / "good.csv", folder_ / "inside" / "alias.csv");
  mkfifo((folder_ / "inside" / "pipe").c_str(), 0600);
  for (const std::string& name : {std::string("../secret.csv"), std::string("deeper/../../secret.csv"),
                                  (folder_ / "secret.csv").string(), std::string("link.csv"),
                                  std::string("up/secret.csv"), std::string("pipe"), std::string("."),
                                  std::string(""), std::string("/dev/zero"), std::string("a\0b", 3)}) {
    const NumberTable table = read(name);
    EXPECT_FALSE(table.problem.empty()) << name;
    EXPECT_TRUE(table.rows.empty()) << name;
  }
  EXPECT_EQ(read("deeper/good.csv").rows.size(), 2U);
  EXPECT_EQ(read("./deeper/good.csv").rows.size(), 2U);
  EXPECT_EQ(read("alias.csv").rows.size(), 2U);
  EXPECT_FALSE(read_number_file({}, "good.csv").problem.empty());
}

TEST_F(DataFilesOfAModel, SizesAreBounded) {
  write("large.csv", std::string(kMaxDataBytes + 1, '1'));
  EXPECT_NE(read("large.csv").problem.find("larger than 16 MiB"), std::string::npos);
  std::string many;
  for (std::size_t k = 0; k <= kMaxEntries; ++k) many += "1\n";
  write("many.csv", many);
  EXPECT_NE(read("many.csv").problem.find("more than 250000 numbers"), std::string::npos);
  write("announced.mtx", "%%MatrixMarket matrix coordinate real general\n1000000 1000000 1\n1 1 1\n");
  EXPECT_NE(read("announced.mtx").problem.find("line 2"), std::string::npos);
}

TEST_F(DataFilesOfAModel, FillParametersTablesAndMatrices) {
  write("list.csv", "1\n2\n3\n");
  write("matrix.csv", "1,2\n3,4\n");
  write("curve.csv", "t,F\n0,1\n2,5\n");
  write("k.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 10\n2 2 20\n");
  write("load.mtx", "%%MatrixMarket matrix array real general\n2 1\n7\n8\n");
  const ModelFile file = read_model_text(
      "format = 1\n[parameters]\na = { file = \"list.csv\" }\nB = { file = \"matrix.csv\" }\n"
      "[tables]\nF = { file = \"curve.csv\" }\n"
      "[matrices]\nstiffness = \"k.mtx\"\nmass = { file = \"k.mtx\" }\nload = \"load.mtx\"\n",
      "model", folder_ / "inside");
  ASSERT_FALSE(file.diagnostics.has_errors()) << render(file.diagnostics, "model", file.text);
  const model::Spec& spec = file.spec;
  EXPECT_FALSE(spec.parameters[0].is_matrix);
  ASSERT_EQ(spec.parameters[0].rows.size(), 1U);
  EXPECT_EQ(spec.parameters[0].rows[0][2].number, 3.0);
  EXPECT_TRUE(spec.parameters[1].is_matrix);
  EXPECT_EQ(spec.parameters[1].rows[1][0].number, 3.0);
  EXPECT_EQ(spec.tables[0].x, (std::vector<double>{0, 2}));
  EXPECT_EQ(spec.tables[0].y, (std::vector<double>{1, 5}));
  EXPECT_TRUE(spec.matrices.stiffness.sparse);
  EXPECT_EQ(spec.matrices.stiffness.row_count, 2);
  ASSERT_EQ(spec.matrices.stiffness.entries.size(), 2U);
  EXPECT_EQ(spec.matrices.stiffness.entries[1].value, 20.0);
  EXPECT_EQ(spec.matrices.mass.entries.size(), 2U);
  ASSERT_EQ(spec.matrices.load.rows.size(), 1U);
  EXPECT_EQ(spec.matrices.load.rows[0][1].number, 8.0);
}

// A file of forty bytes is a matrix of 250 000 numbers each time a model names it.
TEST_F(DataFilesOfAModel, EveryUseOfAFileCountsAgainstTheLimitOfTheModel) {
  write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n500 500 1\n1 2 5\n");
  DataFiles files(folder_ / "inside");
  for (const char* name : {"wide.mtx", "./wide.mtx", "deeper/.././wide.mtx", "././wide.mtx", "wide.mtx"}) {
    const NumberTable table = files.read(name);
    if (std::string(name).find("..") != std::string::npos) {
      EXPECT_NE(table.problem, "");
      continue;
    }
    ASSERT_EQ(table.problem, "") << name;
    EXPECT_EQ(table.rows[0][1], 5);
  }
  EXPECT_NE(files.read("./wide.mtx").problem.find("./wide.mtx: with it the data of this model are more than"),
            std::string::npos);
}

TEST_F(DataFilesOfAModel, AFaultOfAFileIsToldByTheNameThatWasUsed) {
  write("bad.csv", "1\n2,3\n");
  DataFiles files(folder_ / "inside");
  EXPECT_EQ(files.read("bad.csv").problem.rfind("bad.csv, line 2: ", 0), 0U);
  EXPECT_EQ(files.read("./bad.csv").problem.rfind("./bad.csv, line 2: ", 0), 0U);
}

}  // namespace
}  // namespace judder::io
