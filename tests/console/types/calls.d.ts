// How calls of the API are typed: lib/api.js names these types. `Api.Calls` and the records (Api.User, ...) are generated from
// the OpenAPI description (tests/lint/openapi_types.py).
declare namespace Api {
  type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

  // "/v1/users/{}" for the type of `/v1/users/${id}`.
  type Pattern<P extends string> = P extends `${infer Part}/${infer Rest}` ? `${Segment<Part>}/${Pattern<Rest>}` : Segment<P>
  type Segment<S extends string> = string extends S ? "{}" : S

  type Name<M extends string, P extends string> = `${M} ${Pattern<P>}`
  // The types of a call; any for a path that is known only when the page runs.
  type Operation<M extends string, P extends string> = P extends string
    ? string extends P ? any
    : Name<M, P> extends keyof Calls ? Calls[Name<M, P>]
    : never
    : never

  // The path itself, or else a text that the compiler's message shows.
  type Path<M extends string, P extends string> = P extends string
    ? string extends P ? P
    : Name<M, P> extends keyof Calls ? P
    : `The API has no ${Name<M, P>}`
    : never
  type Reply<M extends string, P extends string> = Operation<M, P>["reply"]
  type Body<M extends string, P extends string> = Sent<Operation<M, P>["body"]>
  type Query<M extends string, P extends string> = { [name in Operation<M, P>["query"]]?: Value }
  type Value = string | number | boolean | null | undefined

  // Values of a choice are plain text where a page sends them: they come from controls.
  type Sent<T> = T extends string ? string : T extends Array<infer Item> ? Array<Sent<Item>> : T extends object ? { [K in keyof T]: Sent<T[K]> } : T
}
