/** The gantry: a frame over a rail, and the load that hangs from it. */
export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" aria-hidden>
      <path
        d="M1.5 4.6h21M5 4.6v15.4M19 4.6v15.4M3 20.6h4M17 20.6h4M12 4.6v4"
        stroke="var(--ink)"
        strokeWidth="2"
      />
      <path d="M8.4 8.4h7.2v6.6H8.4z" fill="var(--accent-fill)" />
    </svg>
  )
}
