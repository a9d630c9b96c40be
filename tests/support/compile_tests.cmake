# SPDX-License-Identifier: MIT
#
# Tests that ask the compiler alone: may this source be compiled with the include paths of that floor?
# They run as tests and not while configuring, so that a wrong answer is counted and shown like any
# other failure.

# The test NAME compiles one source as if it were a source of the floor.
function(replayout_add_compile_test name floor source)
    separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
    add_test(
        NAME "${name}"
        COMMAND
            ${CMAKE_CXX_COMPILER} ${flags} -std=c++20 -fsyntax-only
            "-I$<JOIN:$<TARGET_PROPERTY:replayout_${floor},INCLUDE_DIRECTORIES>,;-I>" ${source}
        COMMAND_EXPAND_LISTS)
    set_tests_properties("${name}" PROPERTIES ENVIRONMENT LC_ALL=C)
endfunction()

# Each source must be refused with the text that stands in its first comment, below the line
# "Expected in the compiler's message:". Any other error is a failure: a refusal for the wrong reason
# protects nobody.
function(replayout_must_not_compile floor)
    foreach(source IN LISTS ARGN)
        cmake_path(GET source STEM stem)
        cmake_path(ABSOLUTE_PATH source)
        file(READ ${source} text)
        string(REGEX MATCH "Expected in the compiler's message:\n// *([^\n]*)" text "${text}")
        if(NOT text)
            message(FATAL_ERROR "${source} does not say which message it expects.")
        endif()
        string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" expected "${CMAKE_MATCH_1}")
        set(name "Compiler: ${floor} refuses ${stem}")
        replayout_add_compile_test("${name}" ${floor} ${source})
        set_tests_properties("${name}" PROPERTIES PASS_REGULAR_EXPRESSION "error: .*${expected}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    endforeach()
endfunction()
