import type { TailFrame, TailRequest } from "./frames"

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 15_000
const CLOSED_BY_AUTH = 4401
const CLOSED_BY_RIGHT = 4403

/**
 * One tail: a socket of its own, which begins with the request. After a loss it goes on where the last progress was, so
 * nothing is missing between.
 */
export class TailConnection {
  private socket: WebSocket | null = null
  private timer: number | undefined
  private delayMs = FIRST_DELAY_MS
  private resume: string | null = null
  private isClosed = false

  constructor(
    private readonly url: string,
    private readonly request: TailRequest,
    private readonly onFrame: (frame: TailFrame) => void,
    private readonly onStatus: (isOpen: boolean) => void,
  ) {
    this.connect()
  }

  close(): void {
    this.isClosed = true
    window.clearTimeout(this.timer)
    this.socket?.close()
  }

  private connect(): void {
    const socket = new WebSocket(this.url)
    this.socket = socket
    socket.onmessage = (message) => {
      if (!this.isClosed) this.take(socket, JSON.parse(String(message.data)) as TailFrame)
    }
    socket.onclose = (event) => {
      if (this.isClosed || this.socket !== socket) return
      this.onStatus(false)
      if (event.code !== CLOSED_BY_AUTH && event.code !== CLOSED_BY_RIGHT) this.connectLater()
    }
  }

  private connectLater(): void {
    const wait = this.delayMs * (0.7 + Math.random() * 0.6)
    this.delayMs = Math.min(this.delayMs * 2, LONGEST_DELAY_MS)
    this.timer = window.setTimeout(() => this.connect(), wait)
  }

  private take(socket: WebSocket, frame: TailFrame): void {
    if (frame.type === "hello") {
      this.delayMs = FIRST_DELAY_MS
      const resume = this.resume === null ? {} : { resume: this.resume }
      socket.send(JSON.stringify({ type: "start", ...this.request, ...resume }))
      this.onStatus(true)
    }
    if (frame.type === "progress") this.resume = frame.resume
    this.onFrame(frame)
  }
}
