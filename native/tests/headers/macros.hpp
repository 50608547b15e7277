// Macros of other people's headers, which stand before ours in their programs: <windows.h> without NOMINMAX, Qt, Unreal Engine, Xlib, BSD and macOS. The
// standard library comes first, as it does not bear them either.
#include <bits/stdc++.h>
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define interface struct
#define ERROR 0
#define IN
#define OUT
#define DELETE (0x00010000L)
#define emit
#define slots
#define signals public
#define foreach(variable, container) for (variable : container)
#define forever for (;;)
#define check(expression) static_assert(false, "a macro named check")
#define verify(expression) static_assert(false, "a macro named verify")
#define ensure(expression) static_assert(false, "a macro named ensure")
#define TEXT(text) L##text
#define Status int
#define Bool int
#define True 1
#define False 0
#define None 0L
#define Success 0
#define Always 2
#define major(device) ((device) >> 8)
#define minor(device) ((device)&0xff)
#define unix 1
#define linux 1
