/// \file each.hpp
/// Applies a macro to each of up to 256 arguments, by recursion with __VA_OPT__.
#pragma once

#define TUTTI_DETAIL_PARENTHESES ()
#define TUTTI_DETAIL_SCAN_1(...) __VA_ARGS__
#define TUTTI_DETAIL_SCAN_4(...) \
  TUTTI_DETAIL_SCAN_1(TUTTI_DETAIL_SCAN_1(TUTTI_DETAIL_SCAN_1(__VA_ARGS__)))
#define TUTTI_DETAIL_SCAN_16(...) \
  TUTTI_DETAIL_SCAN_4(TUTTI_DETAIL_SCAN_4(TUTTI_DETAIL_SCAN_4(TUTTI_DETAIL_SCAN_4(__VA_ARGS__))))
#define TUTTI_DETAIL_SCAN_64(...) \
  TUTTI_DETAIL_SCAN_16(           \
      TUTTI_DETAIL_SCAN_16(TUTTI_DETAIL_SCAN_16(TUTTI_DETAIL_SCAN_16(__VA_ARGS__))))
#define TUTTI_DETAIL_SCAN(...) \
  TUTTI_DETAIL_SCAN_64(        \
      TUTTI_DETAIL_SCAN_64(TUTTI_DETAIL_SCAN_64(TUTTI_DETAIL_SCAN_64(__VA_ARGS__))))

/// macro(context, x) for each x after context.
#define TUTTI_DETAIL_EACH(macro, context, ...) \
  __VA_OPT__(TUTTI_DETAIL_SCAN(TUTTI_DETAIL_STEP(macro, context, __VA_ARGS__)))
#define TUTTI_DETAIL_STEP(macro, context, first, ...) \
  macro(context, first) __VA_OPT__(                   \
      TUTTI_takes_at_most_256_names TUTTI_DETAIL_PARENTHESES(macro, context, __VA_ARGS__))
/// Named for what the compiler says when arguments are left after the last scan.
#define TUTTI_takes_at_most_256_names() TUTTI_DETAIL_STEP

#define TUTTI_DETAIL_INDEX(Type, field) tutti_index_##field,
#define TUTTI_DETAIL_VISIT(Type, field)                                             \
  tutti_visit(                                                                      \
      ::tutti::dds::detail::Field<Type, decltype(Type::field), tutti_index_##field, \
                                  __builtin_offsetof(Type, field)>{#field, &Type::field})&&
#define TUTTI_DETAIL_ENUMERATOR(Type, name) tutti_visit(#name, Type::name)&&
