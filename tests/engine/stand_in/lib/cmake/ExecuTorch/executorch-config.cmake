# A stand-in for an installed ExecuTorch: the same package, targets and names, none of its code. What it runs is this
# project's runtime. As of upstream: cortex_m_ops_lib is there and not in EXECUTORCH_LIBRARIES, its kernels register in
# static constructors, interface flags bring -fPIC.
get_filename_component(stand_in "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(executorch_VERSION 0.0.1)
add_subdirectory("${stand_in}/../../../runtime" stand_in_runtime)

add_library(executorch STATIC "${stand_in}/source/runtime.cpp")
target_include_directories(executorch SYSTEM PUBLIC "${stand_in}/include")
target_compile_options(executorch INTERFACE -fPIC)
target_link_libraries(executorch PUBLIC rt_runtime)

add_library(cortex_m_ops_lib STATIC "${stand_in}/source/kernels.cpp")
target_compile_options(cortex_m_ops_lib PRIVATE -fPIC)
target_link_libraries(cortex_m_ops_lib PUBLIC executorch)

set(EXECUTORCH_LIBRARIES executorch rt_kernels)
