// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What a libkokkoscore of a newer Debian takes from its C and C++ libraries and Debian 12's lack; see kokkos_hosts.
#include <cstdlib>
#include <cstring>
#include <iostream>  // its initializer is what ios_base_library_init would be for
#include <string>

extern "C" long __isoc23_strtol(const char* text, char** end, int base);
extern "C" long __isoc23_strtol(const char* text, char** end, int base) { return std::strtol(text, end, base); }

extern "C" void ios_base_library_init() __asm__("_ZSt21ios_base_library_initv");
extern "C" void ios_base_library_init() {}

// std::string's replace where the new text is a part of the string itself: `old_length` characters at `place`, with
// `tail` characters after them, become the `length` ones at `text`.
extern "C" void replace_cold(
    void* string, char* place, std::size_t old_length, const char* text, std::size_t length,
    std::size_t tail) __asm__("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm");
extern "C" void replace_cold(void*, char* place, std::size_t old_length, const char* text, std::size_t length,
                             std::size_t tail) {
  const std::string copy(text, length);
  std::memmove(place + length, place + old_length, tail);
  std::memcpy(place, copy.data(), length);
}
