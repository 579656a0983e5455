import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"

export const useChangePassword = () =>
  useMutation({ mutationFn: (input: { current: string; new: string }) => api.post(paths.password, input) })
