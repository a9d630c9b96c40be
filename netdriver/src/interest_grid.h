// SPDX-License-Identifier: MIT
//
// Who sees what: viewers and objects in cells. Told where things are at any rate; once a flush it
// looks at those that went over the border of a cell, and at their neighbours.
//
//     layer 0    NetRelevancy::Grid: cells of the settings, how far is said by the viewer
//     layer n    NetRelevancy::Distance, cull distances from 2^k to 2^(k+1): cells of 2^(k-5), how
//                far is said by the object
//
// An object is in one layer, a viewer in all. So distances that differ widely do not meet in one
// hash, where the largest would decide who is a neighbour of whom, and there are no more layers
// than powers of two. All that is kept of a pair is one bit: whether it is in sight.
//
// First everything is moved, then looked at: two that move together are never apart in between,
// which would be for good where they are at a distance at which sight only holds.
#pragma once

#include <replayout/netdriver/net_stats.h>
#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "lattice.h"
#include "marked_row.h"
#include "spatial_hash.h"

#include <cstdint>
#include <list>
#include <optional>

namespace replayout {

class InterestGrid {
  public:
    static constexpr std::uint32_t no_viewer = 0xFFFF'FFFF;

    InterestGrid(const InterestSettings& settings, InterestCounters& counters,
                 MemoryResource* objects, MemoryResource* pairs);

    // Objects, by index. O(viewers nearby), but for set_location().

    /// From now on the object is seen within so far.
    void add_object(std::uint32_t index, double cull_distance, const Vector3& location);
    /// From now on it is seen by who looks so far.
    void add_object(std::uint32_t index, const Vector3& location);
    /// Out of everybody's sight. Nothing when it is not there.
    void remove_object(std::uint32_t index);
    [[nodiscard]] bool has_object(std::uint32_t index) const noexcept {
        return index < objects_.size() && objects_[index].layer != no_layer;
    }
    /// Of an object that is there. O(1).
    void set_location(std::uint32_t index, const Vector3& location);

    // Viewers.

    /// Nowhere at first. Objects that come into its sight or go out of it are marked in `changed`.
    [[nodiscard]] std::uint32_t add_viewer(MarkedRow& changed);
    /// O(what it sees).
    void remove_viewer(std::uint32_t viewer);
    void set_viewer(std::uint32_t viewer, const Vector3& location);
    void set_view_radius(std::uint32_t viewer, double radius);
    /// Square of how far a location is from the viewer, along the axes that count; nothing while
    /// the viewer is nowhere.
    [[nodiscard]] std::optional<float> distance_squared_to(std::uint32_t viewer,
                                                           const Vector3& location) const noexcept;

    /// As of the last update(). Beyond what there is nothing is seen.
    [[nodiscard]] bool sees(std::uint32_t viewer, std::uint32_t index) const noexcept {
        return viewers_[viewer].sight.test(index);
    }
    /// O(what moved to another cell x its neighbours).
    void update();

  private:
    static constexpr std::uint8_t no_layer = 0xFF;

    struct Layer {
        Layer(const Lattice& layer_lattice, LatticeMetric layer_metric, int layer_exponent,
              std::uint32_t reach, Vector<SpatialNode>& object_nodes, MemoryResource* resource);

        Lattice lattice;
        LatticeMetric metric;
        int exponent;  // of the cull distances
        SpatialHash objects;
        Vector<SpatialNode> viewer_nodes;
        SpatialHash viewers;
        BitRow due_viewers;  // they are to look around themselves in the next update
        bool is_linked = false;
    };
    struct Object {
        LatticePoint target;      // where it is to be at the next update; within that, where it was
        std::uint32_t enter = 0;  // cells, squared; of layer 0 the viewer's count
        std::uint32_t leave = 0;
        std::uint8_t layer = no_layer;
        bool is_new = false;  // no update has seen it
    };
    struct Viewer {
        Viewer(MarkedRow& changed_row, MemoryResource* resource)
            : changed(&changed_row), sight(resource) {}

        MarkedRow* changed;  // null: the place is free
        BitRow sight;        // by object index
        std::optional<Vector3> location;
        std::uint64_t view = 0;  // cells, squared
        bool is_linked = false;
        bool is_moved = false;
    };

    void insert(std::uint32_t index, std::uint8_t layer, const Vector3& location);
    [[nodiscard]] std::uint8_t layer_of(int exponent);
    /// Every viewer that is anywhere is in the layer, too.
    void link_viewers(Layer& layer);
    void move_objects();
    void move_viewer(std::uint32_t viewer);
    void look_at_objects();
    void look_from(std::uint32_t viewer, const Layer& layer);
    /// How many cells of layer 0 who sees farthest may be away from what it sees.
    [[nodiscard]] std::uint32_t view_reach() const noexcept;
    void set_view_reach(std::uint32_t reach);
    void examine(const Layer& layer, std::uint32_t viewer, std::uint32_t index);
    void set_sight(std::uint32_t viewer, std::uint32_t index, bool is_in_sight);

    InterestSettings settings_;
    InterestCounters& counters_;
    MemoryResource* objects_resource_;
    MemoryResource* pairs_resource_;
    Vector<SpatialNode> object_nodes_;  // by index
    Vector<Object> objects_;            // likewise
    BitRow due_objects_;
    bool is_object_due_ = false;
    std::pmr::list<Layer> layers_storage_;  // they refer to their own members, so they stay
    Vector<Layer*> layers_;
    Vector<Viewer> viewers_;
    Vector<std::uint32_t> free_viewers_;
    bool is_view_changed_ = false;
};

}  // namespace replayout
