// SPDX-License-Identifier: MIT
//
// Which C++ functions a remote call may run, and that it runs them.
#include "support/checks/catch.h"

#include <replayout/reflection/type_builder.h>

#include <string_view>

using namespace replayout;

namespace {

struct PullParameters {
    Vector3 aim;
};

struct Lever {
    float force = 0.0f;
    int pulls = 0;

    void server_pull(const PullParameters& parameters) { force = parameters.aim.x; }
    bool server_pull_validate(const PullParameters& parameters) { return parameters.aim.x < 5; }
    void client_click() { ++pulls; }
};

void multicast_ring(Lever& lever, const PullParameters& parameters) {
    lever.force += parameters.aim.x;
}

TEST_CASE("TypeBuilder: a remote function is a member, with its parameters and its validation",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    REQUIRE(struct_builder<PullParameters>(registry, "PullParameters")
                .property<&PullParameters::aim>()
                .build());
    const auto type =
        class_builder<Lever>(registry, "Lever")
            .property<&Lever::force>()
            .function<&Lever::server_pull, &Lever::server_pull_validate>(FunctionFlags::Server)
            .function<&Lever::client_click>(FunctionFlags::Client)
            .function<&multicast_ring>(FunctionFlags::Multicast, "Ring")
            .build();
    INFO((type ? "" : type.error().message));
    REQUIRE(type);
    const Function& pull = *(*type)->find_function("server_pull");
    const Function& click = *(*type)->find_function("client_click");
    const Function& ring = *(*type)->find_function("Ring");
    CHECK(pull.flags == (FunctionFlags::Server | FunctionFlags::WithValidation));
    CHECK(pull.parameters == registry.find("PullParameters"));
    CHECK(click.parameters == nullptr);
    CHECK(click.thunk.validate == nullptr);
    Lever lever;
    PullParameters parameters{{3.0f, 0.0f, 0.0f}};
    pull.thunk.call(&lever, &parameters, pull.thunk.context);
    ring.thunk.call(&lever, &parameters, ring.thunk.context);
    click.thunk.call(&lever, nullptr, click.thunk.context);
    CHECK(lever.force == 6.0f);
    CHECK(lever.pulls == 1);
    CHECK(pull.thunk.validate(&lever, &parameters, nullptr));
    parameters.aim.x = 7.0f;
    CHECK_FALSE(pull.thunk.validate(&lever, &parameters, nullptr));
    TypeRegistry empty;
    CHECK_FALSE(class_builder<Lever>(empty, "Lever")
                    .function<&Lever::server_pull>(FunctionFlags::Server)
                    .build());
}

struct Speaker {
    int* heard = nullptr;
    float volume = 1.0f;

    void client_beep() const { ++*heard; }
    void client_hum() const noexcept { ++*heard; }
    void server_say(const PullParameters& parameters) const {
        *heard += static_cast<int>(parameters.aim.x);
    }
    bool server_say_validate(const PullParameters& parameters) const noexcept {
        return parameters.aim.x < 5;
    }
};

void multicast_click(const Speaker& speaker) noexcept {
    ++*speaker.heard;
}

TEST_CASE("TypeBuilder: a remote function may be const, and noexcept",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    REQUIRE(struct_builder<PullParameters>(registry, "PullParameters")
                .property<&PullParameters::aim>()
                .build());
    const auto type =
        class_builder<Speaker>(registry, "Speaker")
            .property<&Speaker::volume>()
            .function<&Speaker::client_beep>(FunctionFlags::Client)
            .function<&Speaker::client_hum>(FunctionFlags::Client)
            .function<&Speaker::server_say, &Speaker::server_say_validate>(FunctionFlags::Server)
            .function<&multicast_click>(FunctionFlags::Multicast)
            .build();
    INFO((type ? "" : type.error().message));
    REQUIRE(type);
    int heard = 0;
    Speaker speaker{&heard};
    const PullParameters parameters{{3.0f, 0.0f, 0.0f}};
    const auto call = [&](std::string_view name, const void* params) {
        const Function* function = (*type)->find_function(name);
        REQUIRE(function != nullptr);
        CHECK((function->parameters != nullptr) == (params != nullptr));
        function->thunk.call(&speaker, params, function->thunk.context);
        return heard;
    };
    CHECK(call("client_beep", nullptr) == 1);
    CHECK(call("client_hum", nullptr) == 2);
    CHECK(call("multicast_click", nullptr) == 3);
    CHECK(call("server_say", &parameters) == 6);
    CHECK((*type)->find_function("server_say")->thunk.validate(&speaker, &parameters, nullptr));
}

}  // namespace
