// SPDX-License-Identifier: MIT
#include "bunch_queue.h"

namespace replayout {

void BunchQueue::insert(BunchOrder order, BunchPtr bunch) {
    std::size_t slot = slot_of(order);
    ++count_;
    if (slot < slots_.count() && slots_.at(slot).order == order) {
        REPLAYOUT_ASSERT(slots_.at(slot).bunch == nullptr);
        slots_.at(slot).bunch = bunch.release();
        return;
    }
    slots_.push_back() = Slot();
    for (std::size_t i = slots_.count() - 1; i > slot; --i) {
        slots_.at(i) = slots_.at(i - 1);
    }
    slots_.at(slot) = {order, bunch.release()};
}

OutBunch* BunchQueue::find(BunchOrder order) const noexcept {
    const std::size_t slot = slot_of(order);
    return slot < slots_.count() && slots_.at(slot).order == order ? slots_.at(slot).bunch
                                                                   : nullptr;
}

BunchQueue::BunchPtr BunchQueue::take(BunchOrder order) noexcept {
    const std::size_t slot = slot_of(order);
    if (slot == slots_.count() || slots_.at(slot).order != order ||
        slots_.at(slot).bunch == nullptr) {
        return pool_.own(nullptr);
    }
    BunchPtr bunch = leave(slot);
    close_gaps();
    return bunch;
}

BunchOrder BunchQueue::first_lost_from(BunchOrder order) const noexcept {
    for (std::size_t i = slot_of(order); i < slots_.count(); ++i) {
        const Slot& slot = slots_.at(i);
        if (slot.bunch != nullptr && slot.bunch->is_lost) {
            return slot.order;
        }
    }
    REPLAYOUT_ASSERT(false);
    return order;
}

std::size_t BunchQueue::slot_of(BunchOrder order) const noexcept {
    std::size_t end = slots_.count();
    if (end == 0 || order <= slots_.front().order) {
        return 0;  // most often
    }
    std::size_t begin = 0;
    while (begin < end) {
        const std::size_t middle = begin + (end - begin) / 2;
        if (slots_.at(middle).order < order) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

void BunchQueue::close_gaps() noexcept {
    while (slots_.count() > 0 && slots_.front().bunch == nullptr) {
        slots_.pop_front();
    }
    while (slots_.count() > 0 && slots_.at(slots_.count() - 1).bunch == nullptr) {
        slots_.pop_back();
    }
    constexpr std::size_t few = 16;
    if (slots_.count() <= few + 2 * count_) {
        return;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < slots_.count(); ++i) {
        if (slots_.at(i).bunch != nullptr) {
            slots_.at(kept++) = slots_.at(i);
        }
    }
    while (slots_.count() > kept) {
        slots_.pop_back();
    }
}

}  // namespace replayout
