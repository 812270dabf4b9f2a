// Which empty values of an existing member a create-or-attach filled. Undoing an import needs it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace muster::rules {

struct FilledValues {
    std::uint8_t texts = 0;        // bit i: the field kTextFields[i]
    std::vector<bool> attributes;  // one entry per attribute that was sent, in the sent order

    bool any() const {
        return texts != 0 ||
               std::find(attributes.begin(), attributes.end(), true) != attributes.end();
    }
    bool operator==(const FilledValues&) const = default;
};

}  // namespace muster::rules
