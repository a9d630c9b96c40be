// SPDX-License-Identifier: MIT
//
// A TCP stream from which a bounded number of bytes is read in a tick. What Boost.Beast reads
// beside messages (pings, pongs, empty fragments) cannot be counted as frames, but as bytes. What
// is not read is left to TCP, which holds the sender back.
//
//     websocket::stream<BoundedStream>
//         v  async_read_some: as many as are left in this tick, or it waits for the next
//     beast::tcp_stream
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace replayout {

class BoundedStream {
  public:
    using next_layer_type = boost::beast::tcp_stream;
    using executor_type = next_layer_type::executor_type;

    explicit BoundedStream(boost::asio::ip::tcp::socket socket) : next_(std::move(socket)) {}

    [[nodiscard]] executor_type get_executor() noexcept { return next_.get_executor(); }
    [[nodiscard]] next_layer_type& next_layer() noexcept { return next_; }
    [[nodiscard]] const next_layer_type& next_layer() const noexcept { return next_; }

    /// A tick begins, in which `bytes` may be read.
    void grant(std::size_t bytes) {
        bytes_left_ = bytes;
        if (const auto go_on = std::exchange(waiting_, nullptr)) {
            go_on();
        }
    }
    /// Nothing more is read in this tick.
    void exhaust() noexcept { bytes_left_ = 0; }
    /// Drops the read that waits for the next tick. It owns the connection that owns this stream,
    /// so without this call neither is freed.
    void abandon() noexcept { waiting_ = nullptr; }

    template <typename Buffers, typename Handler>
    auto async_read_some(const Buffers& buffers, Handler&& handler) {
        return boost::asio::async_compose<Handler, void(boost::system::error_code, std::size_t)>(
            ReadOp<Buffers>{*this, buffers}, handler, next_);
    }
    template <typename Buffers, typename Handler>
    auto async_write_some(const Buffers& buffers, Handler&& handler) {
        return next_.async_write_some(buffers, std::forward<Handler>(handler));
    }

  private:
    template <typename Buffers>
    struct ReadOp {
        BoundedStream& stream;
        Buffers buffers;
        bool is_reading = false;

        /// The first of the buffers with any room: a stream need not fill them all.
        [[nodiscard]] boost::asio::mutable_buffer room() const {
            const auto end = boost::asio::buffer_sequence_end(buffers);
            for (auto each = boost::asio::buffer_sequence_begin(buffers); each != end; ++each) {
                const boost::asio::mutable_buffer buffer = *each;
                if (buffer.size() > 0) {
                    return boost::asio::buffer(buffer, stream.bytes_left_);
                }
            }
            return {};
        }

        template <typename Self>
        void operator()(Self& self, boost::system::error_code error = {}, std::size_t size = 0) {
            if (is_reading) {
                stream.bytes_left_ -= std::min(stream.bytes_left_, size);
                self.complete(error, size);
                return;
            }
            if (stream.bytes_left_ == 0) {
                auto kept = std::make_shared<Self>(std::move(self));
                stream.waiting_ = [kept] {
                    Self going_on = std::move(*kept);
                    going_on();
                };
                return;
            }
            is_reading = true;
            BoundedStream& from = stream;
            from.next_.async_read_some(room(), std::move(self));
        }
    };

    next_layer_type next_;
    std::size_t bytes_left_ = 64 * 1024;
    std::function<void()> waiting_;  // a read, for the next tick
};

template <typename Handler>
void async_teardown(boost::beast::role_type role, BoundedStream& stream, Handler&& handler) {
    using boost::beast::websocket::async_teardown;
    async_teardown(role, stream.next_layer().socket(), std::forward<Handler>(handler));
}

inline void teardown(boost::beast::role_type role, BoundedStream& stream,
                     boost::system::error_code& error) {
    using boost::beast::websocket::teardown;
    teardown(role, stream.next_layer().socket(), error);
}

inline void beast_close_socket(BoundedStream& stream) {
    stream.next_layer().close();
}

}  // namespace replayout
