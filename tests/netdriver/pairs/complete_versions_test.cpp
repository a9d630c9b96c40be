// SPDX-License-Identifier: MIT
//
// CompleteVersions against a model that does by a loop over all records what it does without one.
#include "complete_versions.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

constexpr Version no_debt = std::numeric_limits<Version>::max();

class Model {
  public:
    void begin(std::uint32_t count) {
        debt_ = no_debt;
        records_.assign(count, {});
    }
    void take() { taken_debt_ = std::exchange(debt_, no_debt); }
    void give_back() { debt_ = std::min(debt_, taken_debt_); }
    void sent(const SentVersions& versions, bool is_complete) {
        const Version through = is_complete ? versions.sent.through : 0;
        if (versions.sent.is_empty() && versions.lost.is_empty()) {
            records_.push_back({no_debt, through});
            return;
        }
        Version floor = std::min(versions.sent.after, taken_debt_);
        if (!versions.lost.is_empty()) {
            floor = std::min(floor, versions.lost.after);
        }
        records_.push_back({floor, through});
    }
    void delivered() {
        complete_ = std::max(complete_, records_.front().through);
        records_.erase(records_.begin());
    }
    void lost() {
        const Version floor = records_.front().floor;
        records_.erase(records_.begin());
        debt_ = std::min(debt_, floor);
        for (Record& record : records_) {
            record.floor = record.floor == no_debt ? no_debt : std::min(record.floor, floor);
        }
    }
    void restart() {
        complete_ = 0;
        debt_ = 0;
        std::fill(records_.begin(), records_.end(), Record{});
    }
    [[nodiscard]] bool has_records() const { return !records_.empty(); }
    [[nodiscard]] Version version(const SendingRepState& pair) const {
        Version version = std::min(pair.sent_version, debt_);
        if (!pair.lost().is_empty()) {
            version = std::min(version, pair.lost().after);
        }
        for (const Record& record : records_) {
            version = std::min(version, record.floor);
        }
        return std::max(version, complete_);
    }

  private:
    struct Record {
        Version floor = 0;
        Version through = 0;
    };
    std::vector<Record> records_;
    Version complete_ = 0;
    Version debt_ = no_debt;
    Version taken_debt_ = no_debt;
};

}  // namespace

TEST_CASE("CompleteVersions: it answers as a look at every record would",
          "[netdriver][complete_versions]") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        CompleteVersions complete(std::pmr::get_default_resource());
        Model model;
        const std::uint32_t under_way = random.below(4);
        complete.begin(under_way);
        model.begin(under_way);
        SendingRepState pair;
        Version version = random.between(5, 20);
        pair.catch_up(version);
        std::vector<SentVersions> sent(under_way);
        for (int step = 0; step < 300; ++step) {
            const std::uint32_t event = random.below(100);
            if (event < 50) {
                complete.take();
                model.take();
                version += random.below(3);
                const SentVersions record = pair.take_owed(version);
                const bool is_complete = random.percent(20);
                complete.sent(record, is_complete);
                model.sent(record, is_complete);
                sent.push_back(record);
            } else if (event < 96 && model.has_records()) {
                if (random.percent(50)) {
                    complete.delivered();
                    model.delivered();
                } else {
                    complete.lost();
                    model.lost();
                    pair.return_unsent(sent.front());
                }
                sent.erase(sent.begin());
            } else if (event < 98) {
                complete.give_back();
                model.give_back();
            } else if (event == 99 && random.percent(20)) {
                complete.restart();
                model.restart();
            }
            REQUIRE(complete.has_records() == model.has_records());
            REQUIRE(complete.version(pair) == model.version(pair));
        }
    }
}

}  // namespace replayout::test
