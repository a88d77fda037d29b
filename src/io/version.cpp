#include "judder/io/version.hpp"

namespace judder::io {

const char* version() { return JUDDER_VERSION; }

}  // namespace judder::io
