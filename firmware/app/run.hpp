// One bundle: load, measure, send outputs.
#pragma once

#include "firmware/app/bundle.hpp"

namespace fw {

/** Run `bundle` and send what came of it, all but the end line.
 *
 * @return false after an `error` line, if the engine or the app refused. */
[[nodiscard]] bool run_bundle(const Bundle& bundle);

/** After a good run: send those lines with outputs or intermediate results again whose numbers
 * are from `first` to `last`. */
void send_outputs_again(const Bundle& bundle, uint32_t first, uint32_t last);

}  // namespace fw
