/**
 * \file tutti.h
 * Tutti for C: the same library by functions, for C99, C++ and every language that can call C.
 *
 * What a group promises, and what each option means, is said once, in the C++ headers (node.hpp,
 * group.hpp, options.hpp); here is said what is different in C.
 *
 * - Functions return 0 or a negative TUTTI_E_... code. The last parameter takes the message, which
 *   says what was wrong, where, and what to do; it may be NULL.
 * - Options structs begin with their size: tutti_..._init(&options, sizeof options) fills in the
 *   defaults of the library that runs. Fields are only ever added at the end. The library gives
 *   fields that an older program does not know their defaults, and refuses those of a newer program
 *   that it does not know itself, unless they are zero.
 * - Handles are opaque. A handle that was destroyed, or one of another process (after a fork), is
 * an error of every function, not a crash; for that the few bytes of a handle stay until exit.
 * - Strings are copied; those that the library returns live as long as their handle.
 * - Nothing is thrown. A callback must return: it must not longjmp or throw.
 */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include "tutti/c/group.h"
#include "tutti/c/node.h"
#include "tutti/c/options.h"
#include "tutti/c/replicated.h"
#include "tutti/c/request.h"
#include "tutti/c/types.h"

#endif
