// A library of kernels that nothing calls: it registers itself before main, as upstream's do.

namespace executorch::runtime {

extern bool kernels_registered;  // of another library: reached through the global offset table

namespace {

struct Registration {
  Registration() { kernels_registered = true; }
};
const Registration registration;

}  // namespace
}  // namespace executorch::runtime
