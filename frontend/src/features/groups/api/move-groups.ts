import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupMove, GroupMoves, GroupPlan, GroupPlans, GroupsWish } from "@/lib/api-types"
import { groupKeys } from "./keys"

/** Changes nothing: what is asked here is kept as plans for five minutes. */
export const usePreviewMoves = (cluster: string) =>
  useMutation({ mutationFn: (wish: GroupsWish) => api.post<GroupPlans>(paths.groupsOffsets(cluster, "preview"), wish) })

export function useApplyMoves(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (plans: GroupPlan[]) =>
      api.post<GroupMoves>(paths.groupsOffsets(cluster, "apply"), { plans: plans.map(({ group, plan_id }) => ({ group, plan_id })) }),
    onSettled: () => cache.invalidateQueries({ queryKey: groupKeys.all(cluster) }),
  })
}

export function useUndoMoves(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (moves: GroupMove[]) =>
      api.post<GroupMoves>(paths.groupsOffsets(cluster, "undo"), { snapshots: moves.map(({ group, snapshot_id }) => ({ group, snapshot_id })) }),
    onSettled: () => cache.invalidateQueries({ queryKey: groupKeys.all(cluster) }),
  })
}
