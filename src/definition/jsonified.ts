/**
 * The type of a value after a JSON round trip, as steps return it.
 */

/** `Value` after `JSON.parse(JSON.stringify(value))`: a `Date` becomes a string, methods are removed. A bare `undefined` stays. */
export type Jsonified<Value> = unknown extends Value
  ? Value
  : Value extends { toJSON(): infer Json }
    ? Jsonified<Json>
    : Value extends string | number | boolean | null | undefined
      ? Value
      : Value extends Unwritten
        ? never
        : Value extends readonly unknown[]
          ? { [Index in keyof Value]: JsonElement<Value[Index]> }
          : {
              [Key in keyof Value as Key extends string ? WrittenKey<Key, Value[Key]> : never]: Jsonified<
                Value[Key]
              >
            }

/** Types that JSON omits from objects, and elsewhere refuses or writes as `null`. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` takes the parameters of every function.
type Unwritten = bigint | symbol | ((...args: any) => unknown)

type WrittenKey<Key, Value> = Value extends Unwritten ? never : Key

type JsonElement<Element> = Element extends undefined | Unwritten ? null : Jsonified<Element>
