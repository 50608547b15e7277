// Not a header of the library: what the check of the headers has to refuse.
#pragma once

inline int narrowed(unsigned long long wide) {
    return wide;
}
