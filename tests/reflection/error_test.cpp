// SPDX-License-Identifier: MIT
#include <replayout/reflection/error.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "support/checks/catch.h"
#include "support/checks/caught_failure.h"

using namespace replayout;

TEST_CASE("Result: a value is there, reached and moved out", "[reflection][error]") {
    Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
    REQUIRE(result);
    CHECK(result.has_value());
    CHECK(**result == 7);
    CHECK(result->get() != nullptr);
    const std::unique_ptr<int> taken = *std::move(result);
    CHECK(*taken == 7);
}

TEST_CASE("Result: an error is there with its code and its sentence", "[reflection][error]") {
    const Result<int> result =
        Error{ErrorCode::DuplicateName, "type \"Pawn\": is already registered"};
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::DuplicateName);
    CHECK(result.error().message == "type \"Pawn\": is already registered");
}

TEST_CASE("Result: to use one without a value ends the process with its error, in any build",
          "[reflection][error]") {
    Result<std::string> result = Error{ErrorCode::UnknownType, "type \"Pawn\": is not there"};
    const std::string said = "a Result without a value was used: type \"Pawn\": is not there";
    CHECK(test::failure_in([&] { (void)*result; }) == said);
    CHECK(test::failure_in([&] { (void)result->size(); }) == said);
    CHECK(test::failure_in([&] { (void)*std::as_const(result); }) == said);
}

TEST_CASE("Result: the error of one that has a value is of code Ok", "[reflection][error]") {
    const Result<int> result = 3;
    CHECK(result.error().code == ErrorCode::Ok);
    CHECK(result.error().message.empty());
}

TEST_CASE("Status: success by default, else the error it was made from", "[reflection][error]") {
    CHECK(Status());
    CHECK(Status().error().code == ErrorCode::Ok);
    const Status status = Error{ErrorCode::RegistryFrozen, "the registry is already frozen"};
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::RegistryFrozen);
    CHECK(status.error().message == "the registry is already frozen");
}

TEST_CASE("ErrorCode: each has a phrase of its own", "[reflection][error]") {
    std::set<std::string_view> phrases;
    const auto last = static_cast<unsigned>(ErrorCode::IncompatibleLayout);
    for (unsigned code = 0; code <= last; ++code) {
        const std::string_view phrase = to_string(static_cast<ErrorCode>(code));
        CHECK_FALSE(phrase.empty());
        CHECK(phrase != "unknown error");
        phrases.insert(phrase);
    }
    CHECK(phrases.size() == last + 1);
    CHECK(to_string(static_cast<ErrorCode>(last + 1)) == "unknown error");
    CHECK(to_string(ErrorCode::DuplicateName) == "duplicate name");
}
