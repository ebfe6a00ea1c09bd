// Changes of a program that keep it a program: the flatbuffer's form is right, what it says is not.
#pragma once

#include <cstdint>
#include <random>

#include "tests/fuzz/file.hpp"

namespace fuzz {

using Random = std::minstd_rand;

// Makes one change.
void mutate(File& file, Random& random);

// Makes room for what tensors say they hold and gives each a dim order, so that what is wrong with
// the program otherwise is reached.
void repair(File& file);

// Adds the values and instructions of another program to the end of this one.
void append(File& file, const File& other);

}  // namespace fuzz
