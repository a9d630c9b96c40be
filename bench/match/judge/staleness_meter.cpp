// SPDX-License-Identifier: MIT
#include "match/judge/staleness_meter.h"

#include <replayout/reflection/hash.h>

#include "support/report/percentile.h"

#include <algorithm>

namespace replayout::match {

namespace {

// Half a minute; who holds what is older is as old as it was, and what went by since.
constexpr std::size_t values_max = 1'024;

[[nodiscard]] std::uint64_t digest_of(const MatchObject& object, bool is_servers) {
    std::vector<std::byte> bytes;
    for (const MatchClass::Field& field : object.match_class().fields) {
        if (field.type == FieldType::ObjectRef) {
            continue;
        }
        const std::vector<std::byte> value =
            is_servers ? object.encode_as_received(field) : object.encode(field);
        bytes.insert(bytes.end(), value.begin(), value.end());
    }
    return hash64(bytes);
}

}  // namespace

void StalenessMeter::look_at_server(ObjectHandle handle, const MatchObject& object,
                                    std::uint64_t tick) {
    std::deque<Value>& history = histories_[handle.value];
    const std::uint64_t digest = digest_of(object, true);
    if (!history.empty() && history.back().digest == digest) {
        return;
    }
    history.push_back({tick, digest});
    if (history.size() > values_max) {
        history.pop_front();
    }
}

void StalenessMeter::forget(ObjectHandle handle) {
    histories_.erase(handle.value);
    for (StaleSince& client : clients_) {
        client.erase(handle.value);
    }
}

void StalenessMeter::forget_client(std::uint32_t client) {
    if (client < clients_.size()) {
        clients_[client].clear();
    }
}

void StalenessMeter::forget_pair(std::uint32_t client, ObjectHandle handle) {
    if (client < clients_.size()) {
        clients_[client].erase(handle.value);
    }
}

void StalenessMeter::look_at_client(std::uint32_t client, ObjectHandle handle,
                                    const MatchObject* copy, std::uint64_t tick) {
    if (client >= clients_.size()) {
        clients_.resize(std::size_t{client} + 1);
    }
    const std::deque<Value>& history = histories_.at(handle.value);
    // Before the first look nothing is known of the client: stale since the object is there, or
    // since the client is.
    std::uint64_t& stale_since = clients_[client].try_emplace(handle.value, tick).first->second;
    if (copy != nullptr) {
        const std::uint64_t digest = digest_of(*copy, false);
        const auto found = std::find_if(history.rbegin(), history.rend(),
                                        [&](const Value& value) { return value.digest == digest; });
        if (found == history.rbegin()) {
            stale_since = tick;
        } else if (found != history.rend()) {
            stale_since = std::prev(found)->tick;
        }
    }
    const std::uint64_t age = tick - stale_since;
    if (age >= ages_.size()) {
        ages_.resize(age + 1);
    }
    ++ages_[age];
}

Staleness StalenessMeter::summary() const {
    Staleness result;
    for (const std::uint64_t count : ages_) {
        result.sample_count += count;
    }
    if (result.sample_count == 0) {
        return result;
    }
    std::uint64_t seen = 0;
    for (std::uint64_t age = 0; age < ages_.size(); ++age) {
        const std::uint64_t before = seen;
        seen += ages_[age];
        const auto reaches = [&](std::uint64_t rank) { return before <= rank && rank < seen; };
        result.p50 = reaches(bench::percentile_place(result.sample_count, 50)) ? age : result.p50;
        result.p99 = reaches(bench::percentile_place(result.sample_count, 99)) ? age : result.p99;
    }
    result.worst = ages_.size() - 1;
    return result;
}

}  // namespace replayout::match
