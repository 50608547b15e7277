# What is tried here is a recipe, not the library: compile it as fast as possible.
set(quick_build -DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DIPC_PRECOMPILED_HEADERS=ON)
