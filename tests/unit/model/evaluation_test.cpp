#include "model_support.hpp"
