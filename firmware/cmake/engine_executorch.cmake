# ENGINE=executorch: an ExecuTorch that was built and installed for this core, found by CMAKE_PREFIX_PATH.
#
# Two kinds of package are known: what `cmake --install` of its sources makes (targets with bare names), and the Python
# wheel (shared libraries of the host, in variables).
find_package(executorch CONFIG REQUIRED)
message(STATUS "engine: ExecuTorch ${executorch_VERSION}")

target_compile_definitions(engine INTERFACE LAB_ENGINE_VERSION="${executorch_VERSION}")
# Its functions for one instruction at a time are marked experimental.
set_source_files_properties(app/engine_executorch.cpp PROPERTIES COMPILE_OPTIONS
  "-Wno-deprecated-declarations;-Wno-conversion;-Wno-shadow")

# Kernels register themselves in static constructors: a linker that takes what is called drops them. Not all are in
# EXECUTORCH_LIBRARIES: cortex_m_ops_lib is exported and left out.
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE "LINKER:--whole-archive" "<LINK_ITEM>" "LINKER:--no-whole-archive")
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE_SUPPORTED TRUE)
set(registering "")
foreach(library cortex_m_ops_lib quantized_ops_lib portable_ops_lib)
  if(TARGET ${library})
    list(APPEND registering "$<LINK_LIBRARY:WHOLE_ARCHIVE,${library}>")
  endif()
endforeach()
set(others ${EXECUTORCH_LIBRARIES})
list(REMOVE_ITEM others cortex_m_ops_lib quantized_ops_lib portable_ops_lib)
foreach(library executorch executorch_core cortex_m_kernels quantized_kernels portable_kernels cmsis-nn)
  if(TARGET ${library} AND NOT library IN_LIST others)
    list(APPEND others ${library})
  endif()
endforeach()
set(ENGINE_LIBRARIES ${registering} ${others})
target_include_directories(engine SYSTEM INTERFACE ${EXECUTORCH_INCLUDE_DIRS})
target_compile_definitions(engine INTERFACE ${EXECUTORCH_COMPILE_DEFINITIONS})

if(CMAKE_CROSSCOMPILING)
  # The one image with static constructors (port/sections.ld); the engine runs them.
  target_link_options(engine INTERFACE -Wl,--defsym=lab_static_constructors=1)
else()
  foreach(library IN LISTS EXECUTORCH_LIBRARIES)
    if(IS_ABSOLUTE "${library}")
      cmake_path(GET library PARENT_PATH folder)
      target_link_options(engine INTERFACE "LINKER:-rpath,${folder}" "LINKER:--no-as-needed")
    endif()
  endforeach()
endif()
