// What a partner writes with orval. It is compiled only.
import { createUser, getUser } from "../generated/orval"

export async function create(): Promise<string> {
  const made = await createUser({ email: "ada@example.org", attributes: { shirt_size: "M" } })
  if (made.status !== 201) return ""
  const found = await getUser(made.data.id)
  return found.status === 200 ? found.data.email : found.data.error.code
}
