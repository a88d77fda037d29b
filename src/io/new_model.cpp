#include "judder/io/new_model.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "io/disk.hpp"
#include "judder/io/files.hpp"

namespace judder::io {
namespace {

// A block is thrown on a rough table: it bounces, slides and comes to rest. Every table of the file format that most models need stands here once; each
// comment says what may be changed. A test runs it against its closed form.
constexpr std::string_view kBeforeTitle = R"toml(# A model of Judder. Run it:     judder run FILE
# Check it after a change:       judder check FILE
# See what was derived from it:  judder explain FILE
# All keys: docs/model-file.md, or judder schema --reference

format = 1
title  = ")toml";

constexpr std::string_view kAfterTitle = R"toml("

# Numbers with names. A value may be an expression of others: "2*pi*f". From outside: judder run FILE --set mu=0.5
[parameters]
m  = 2                 # kg
g  = 9.81              # m/s^2
mu = 0.2               # friction between block and table
e  = 0.4               # restitution: 0 no rebound, 1 full rebound
h0 = 0.2               # height of the start, m
b  = 0.1               # half the size of the block, for the drawing only

# What moves, with its start. x' is the velocity of x.
[coordinates]
x = { start = 0, velocity = 3 }
y = { start = "h0" }   # lower side of the block above the table

# The equations of motion are derived from these.
[energy]
kinetic   = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
# dissipation = "c/2*x'^2"          # a damper of constant c

# A force acts along a velocity.
# [[force]]
# name  = "push"
# along = "x'"
# value = "5*sin(2*t)"

# Two bodies that cannot pass through each other: gap >= 0. With `slip` and `friction` the contact is rough.
[[contact]]
name     = "table"
gap      = "y"
slip     = "x'"
friction = "mu"
impact   = "e"                      # or { type = "poisson", restitution = "e" }

# Friction with a known normal force, without a gap (a clamped pad, a piston ring).
# [[friction]]
# name   = "guide"
# slip   = "x'"
# normal = 10
# law    = { static = 0.4, dynamic = 0.3 }

# An event that changes nothing: the run lists when its expression passes zero.
[[watch]]
name = "one_metre"
zero = "x - 1"

# Named sets of other values: judder run FILE --variant ice
[variants]
ice = { mu = 0.02 }

[run]
until = 3
# engine = "auto"                   # docs/engines.md: which engine when

# Further columns of trajectory.csv, and what judder plot draws.
[output]
plots = [["t", "y", "x"], ["t", "N", "F"]]

[output.columns]
N = "normal(table)"
F = "tangent(table)"
E = "energy()"

# Shapes of the animation: judder run FILE --report
[[draw]]
shape = "box"
at    = ["x", "y + b"]
size  = ["2*b", "2*b"]
)toml";

/// A title as TOML writes it in double quotes.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string new_model_text(const std::string& title) {
  return std::string(kBeforeTitle) + quoted(title) + std::string(kAfterTitle);
}

FileStatus write_new_model(const std::filesystem::path& file, const std::string& title) {
  if (FileStatus status = refuse_detour(file); !status.ok()) return status;
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::not_found)
    return {file.string(), "is there already; choose another name", 0};
  return write_text_file(file, new_model_text(title), kBeforeTitle.substr(0, 20));
}

}  // namespace judder::io
