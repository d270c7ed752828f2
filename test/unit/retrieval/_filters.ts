/** Filters as a model may write them, for properties. */
import fc from 'fast-check'

/** `{ field: { operator: value } }`. */
export function comparison(
  field: fc.Arbitrary<string>,
  operators: readonly string[],
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<object> {
  return fc
    .tuple(field, fc.constantFrom(...operators), value)
    .map(([name, operator, operand]) => ({ [name]: { [operator]: operand } }))
}

/** `$not` of a filter. */
export function negation(filter: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return filter.map((one) => ({ $not: one }))
}

/** Leaves, and what `$and`, `$or` and `further` make of filters. */
export function filtersOf(
  leaf: fc.Arbitrary<object>,
  ...further: readonly ((filter: fc.Arbitrary<unknown>) => fc.Arbitrary<object>)[]
): fc.Arbitrary<unknown> {
  const { filter } = fc.letrec((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      leaf,
      fc
        .tuple(fc.constantFrom('$and', '$or'), fc.array(tie('filter'), { minLength: 1, maxLength: 3 }))
        .map(([operator, list]) => ({ [operator]: list })),
      ...further.map((make) => make(tie('filter'))),
    ),
  }))
  return filter
}
