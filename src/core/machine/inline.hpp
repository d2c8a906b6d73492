// How to say that a function must be inlined, so that the loop around a call of it can become vector code.
#pragma once

#if defined(__GNUC__)
#define TUTELAGE_INLINE [[gnu::always_inline]] inline
#else
#define TUTELAGE_INLINE inline
#endif
