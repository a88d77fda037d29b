// One model with something of everything: a ball that bounces and comes to rest, a block that falls on a rough floor and slides, a mass
// that sticks and slips on a spring, a pendulum held by a constraint, a relay that slides on its surface, a force with a branch, a state.
#pragma once

namespace judder {

inline constexpr const char* kOfEverything = R"toml(
[parameters]
g = 9.81
[coordinates]
b = { start = 1, velocity = 0.3 }
u = { start = 0, velocity = 2 }
w = { start = 0.2 }
x = { start = 1 }
px = { start = 1 }
py = { start = 0 }
r = { start = 0.5 }
k = { start = -0.4, velocity = 1 }
[state]
z = { rate = "sin(t) - z + x", start = 0.2 }
[energy]
kinetic = "(b'^2 + u'^2 + w'^2 + x'^2 + px'^2 + py'^2 + r'^2 + k'^2)/2"
potential = "g*b + g*w + 2*x^2 + g*py"
[[force]]
name = "relay"
along = "r'"
value = "-2*sign(r + r')"
[[force]]
name = "branch"
along = "k'"
value = "if(k > 0, -3, 1)"
[[force]]
name = "damper"
along = "x'"
value = "-0.1*x'"
[[contact]]
name = "ground"
gap = "b"
impact = 0.3
[[contact]]
name = "floor"
gap = "w"
slip = "u'"
friction = { dynamic = 0.2, static = 0.3 }
impact = { type = "newton", restitution = 0.2 }
[[friction]]
name = "pad"
slip = "x'"
normal = 1
law = { dynamic = 0.8, static = 1 }
[[constraint]]
name = "rod"
zero = "px^2 + py^2 - 1"
[run]
until = 3
)toml";

}  // namespace judder
