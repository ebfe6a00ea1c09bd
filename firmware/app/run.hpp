// One bundle: load, measure, send outputs.
#pragma once

#include "firmware/app/bundle.hpp"

namespace fw {

/** Run `bundle` and send what came of it, all but the end line.
 *
 * @return false after an `error` line, if the engine or the app refused. */
[[nodiscard]] bool run_bundle(const Bundle& bundle);

}  // namespace fw
