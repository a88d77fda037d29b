// What a System holds. Private to the model layer.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judder/model/large_matrices.hpp"
#include "judder/model/linear.hpp"
#include "judder/model/linked.hpp"
#include "judder/model/system.hpp"

namespace judder::model {

/// Massless coordinates: unknowns x (velocities of the damped, positions of the undamped) of the balance
/// F(x) = 0.
struct MasslessSystem {
  std::vector<int> unknown;  ///< places in the input array
  expr::Program balance;     ///< F (k), then ∂F/∂x (k×k, row-major)
  /// ∂F/∂x does not depend on x: solved in one step from x = 0, whatever was there before.
  bool affine = false;
  /// Friction joints that move massless coordinates. Where one slips, its known friction is part of F; at rest (direction 0) its force is one more
  /// unknown, and its slip, or for undamped coordinates the way that it has come, stays.
  struct Slider : System::MasslessBalance::Joint {
    int relation = 0;
    int row = 0;  ///< within the relation
  };
  std::vector<Slider> sliders;
  std::vector<System::MasslessBalance::Joint> joints;  ///< the same, for engines
  expr::Program friction;     ///< per slider: drag and slip row on the unknowns (k each), γ_T, −σ μ L
  std::vector<int> velocity;  ///< places of the velocities of the undamped
  expr::Program velocity_balance;  ///< −dF/dt at fixed x (k_u), then ∂F/∂x (k_u×k_u)
};

/// A gap between two places, or between a place and a number: g = ±q_i ± q_j or g = ±q_i + c, its rate ±v_i ± v_j. One operation each, so that it
/// has the bits of any program for it, and no program is needed.
struct PlainGap {
  int relation = 0;
  int first = 0;
  int second = -1;  ///< coordinates; −1: none, then the offset holds
  double first_sign = 1, second_sign = 0;
  double offset = 0;
};

/// A law as it was written, for pages and papers.
struct WrittenLaw {
  FrictionType friction = FrictionType::none;
  expr::Node mu;                       ///< of friction; reads System::Data::speed
  expr::Node restitution, tangential;  ///< of contacts; the first reads System::Data::speed
};

struct System::Data {
  expr::Graph graph;
  Layout layout;
  std::vector<std::string> coordinate_names, state_names;
  std::vector<Relation> relations;
  std::vector<SwitchInfo> switches;
  std::vector<WatchInfo> watches;
  std::vector<SwitchInfo> observed;
  std::vector<AuditInfo> audits;
  std::vector<ColumnInfo> columns;
  std::vector<DrawingInfo> drawings;
  std::vector<bool> massless;
  std::vector<int> massive;  ///< coordinates with inertia, ascending
  MassPattern mass_pattern;
  /// Of the factor of the massive block, by row: its first column that may not be zero, and where it begins. What is zero before the first entry
  /// of a row stays zero.
  std::vector<int> factor_first, factor_last;  ///< the last: of a column, its last row
  std::vector<std::size_t> factor_begin;
  std::vector<double> scale_floor;
  bool mass_constant = false;
  bool watches_read_works = false;
  bool reads_massless_acceleration = false;
  bool autonomous = false, time_free = false, steady = false;
  std::vector<double> periods;
  std::vector<bool> cyclic;
  std::vector<double> start;
  std::vector<double> instants;
  Symbols symbols;
  std::vector<WrittenLaw> written;  ///< by relation
  expr::Variable speed = 0;         ///< of slip or approach, as laws are written

  expr::Program motion;  ///< h, rates, entries of M by its pattern
  expr::Program gaps;    ///< g, γ_N of each relation in `with_gap`
  std::vector<int> with_gap;
  std::vector<PlainGap> plain_gaps;  ///< those of the other relations that have a gap
  expr::Program force;               ///< h, rates
  expr::Program jacobian;            ///< what may not be zero of ∂(h, rates)/∂(q, v, z, free parameters)
  std::vector<std::size_t> jacobian_place;  ///< its places in all of it
  expr::Program energies;                   ///< T, V, E
  expr::Program power;
  expr::Program
      motion_and_powers;  ///< `force`, or `motion` if M varies, then `power`; none: powers see more than forces
  expr::Program column_program;
  expr::Program drawing_program;
  MasslessSystem follow;
  std::shared_ptr<const LargeMatrices> large;  ///< matrices that are numbers
  LinearStructure linear;
  LinkedForces linked;
  int registers = 0, outputs = 0;
};

}  // namespace judder::model
