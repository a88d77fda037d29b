// Forces and rates taken apart into what is constant in a mode, links of the state, and the rest.
//
//     h_i , ż_i  =  Σ_k factor_ik u_k + constant_i + varying_i(t, q, v, z) ,      u_k = Σ_j ± y_j + offset_k
//
// with y = (q, v, z). A row that is affine in y with factors free of t is links and constants, as its formula was written (expr/linked.hpp);
// what it has of t is its varying part. Any other row is its varying part alone. Factors, offsets and constants depend on sides,
// directions and statuses only: they are numbers of a mode.
//
// Models with massless coordinates have no such form (rows is empty): their inputs are found while the forces are evaluated.
#pragma once

#include <utility>
#include <vector>

#include "judder/expr/program.hpp"

namespace judder::model {

struct LinkedForces {
  struct Link {
    std::vector<std::pair<int, double>> terms;  ///< place in y, factor ±1
    int offset = 0;                             ///< output of `coefficients`
  };
  struct Share {
    int link = 0;
    int factor = 0;  ///< output of `coefficients`
  };
  struct Row {
    std::vector<Share> shares;
    int constant = -1;  ///< output of `coefficients`; −1: none
    int varying = -1;   ///< output of `varying`; −1: none
  };
  std::vector<Link> links;
  std::vector<Row> rows;       ///< h by coordinate, then ż by state
  expr::Program coefficients;  ///< evaluated once per mode
  expr::Program varying;
  expr::Program
      varying_and_powers;  ///< outputs of `varying`, then System::powers; none: powers see more than time, state and sides
};

}  // namespace judder::model
