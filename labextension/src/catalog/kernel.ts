// One connection to the catalog of a kernel: its state, requests and answers. Executes nothing: the kernel opens a comm when
// paimon_nb is loaded. JupyterLab sends comm messages to a subshell where the kernel has them, so the tree answers while a cell runs.
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import { UUID } from "@lumino/coreutils";
import { Signal, type ISignal } from "@lumino/signaling";
import { isGone } from "../cells";
import type { CatalogEvent, SnapshotEvent } from "./protocol";

const TARGET = "paimon-nb:catalog";
const SUBSHELL_MS = 2000;

/** waiting: not known yet; foreign: not Python; absent: paimon_nb is not loaded. */
export type State = "waiting" | "foreign" | "absent" | "ready" | "restarting" | "dead";

interface Pending {
  resolve: (answer: never) => void;
  reject: (error: Error) => void;
  since: number;
}

/** The request was answered with an error of the catalog. */
export class CatalogError extends Error {}

/** The kernel ended before it answered. */
export class KernelEnded extends Error {}

/** The connection to each kernel, by the kernel's id. */
const catalogs = new Map<string, KernelCatalog>();

/** The connection to a kernel; null: this page has none. */
export const catalogOf = (id: string | undefined): KernelCatalog | null => (id && catalogs.get(id)) || null;

/** Connect to the kernel of a notebook or console. */
export function connectCatalog(kernel: Kernel.IKernelConnection): void {
  // One connection of a kernel has its comms: that of the notebook, not of a console that shares it.
  if (!kernel.handleComms || catalogs.get(kernel.id)?.connection === kernel) return;
  catalogs.set(kernel.id, new KernelCatalog(kernel));
  kernel.disposed.connect(() => {
    if (catalogs.get(kernel.id)?.connection === kernel) catalogs.delete(kernel.id);
  });
}

export class KernelCatalog {
  /** Whether the kernel runs a cell. */
  running = false;
  private ranSignal = new Signal<this, void>(this);
  private chosenSignal = new Signal<this, SnapshotEvent>(this);
  private alteredSignal = new Signal<this, void>(this);
  private comm: Kernel.IComm | null = null;
  private current: State = "waiting";
  private pending = new Map<string, Pending>();
  private signal = new Signal<this, void>(this);
  /** The language of the kernel, for the message that it is not Python. */
  language = "";

  constructor(readonly connection: Kernel.IKernelConnection) {
    connection.registerCommTarget(TARGET, (comm) => this.attach(comm));
    connection.statusChanged.connect(this.onStatus, this);
    connection.connectionStatusChanged.connect((_, status) => {
      // Replies may have been lost while the page was offline.
      if (status === "connected" && this.current === "absent") this.look();
    });
    connection.iopubMessage.connect(this.onOutput, this);
    connection.disposed.connect(() => this.end("dead"));
    void this.probe();
  }

  /** The state or the kernel's status changed. */
  get changed(): ISignal<this, void> {
    return this.signal;
  }

  /** A cell has ended. */
  get ran(): ISignal<this, void> {
    return this.ranSignal;
  }

  /** A snapshot was chosen in the panel of a tab, perhaps one of another page. */
  get chosen(): ISignal<this, SnapshotEvent> {
    return this.chosenSignal;
  }

  /** The catalogs are others, though no cell has run. */
  get altered(): ISignal<this, void> {
    return this.alteredSignal;
  }

  get state(): State {
    return this.current;
  }

  /** Milliseconds that the oldest request has waited for a busy kernel; 0 if none waits. */
  get waitedMs(): number {
    if (this.connection.status !== "busy" || !this.pending.size) return 0;
    return Date.now() - Math.min(...[...this.pending.values()].map((p) => p.since));
  }

  /** Find the comm that the kernel opened before this page was loaded. */
  async probe(): Promise<void> {
    const info = await this.connection.info.catch(() => null);
    if (!info || this.connection.isDisposed) return;
    this.language = info.language_info.name;
    if (this.language !== "python") return this.become("foreign");
    const reply = await this.connection.requestCommInfo({ target_name: TARGET }).catch(() => null);
    if (this.connection.isDisposed || this.comm || !reply || reply.content.status !== "ok") return;
    const ids = Object.keys(reply.content.comms);
    if (!ids.length) return isGone(this.connection.status) ? undefined : this.become("absent");
    await this.attach(this.connection.createComm(TARGET, ids[ids.length - 1]));
  }

  private async attach(comm: Kernel.IComm): Promise<void> {
    this.comm = comm;
    comm.onMsg = (message) => this.onAnswer(message);
    comm.onClose = () => {
      if (this.comm === comm) this.end("absent");
    };
    this.become("ready");
  }

  /** Load paimon_nb in the kernel, outside its history. */
  async load(): Promise<void> {
    const future = this.connection.requestExecute({
      code: "%load_ext paimon_nb",
      silent: true,
      store_history: false,
      stop_on_error: false,
      user_expressions: { open: "__import__('paimon_nb.notebook.catalog_comm', fromlist=['open_comm']).open_comm()" },
    });
    const reply = (await future.done) as KernelMessage.IExecuteReplyMsg | undefined;
    const content = reply?.content as { status?: string; ename?: string; evalue?: string; user_expressions?: { open?: { status: string; evalue?: string } } } | undefined;
    if (content?.status === "error") throw new CatalogError(`${content.ename}: ${content.evalue}`);
    const opened = content?.user_expressions?.open;
    if (opened?.status === "error") throw new CatalogError(String(opened.evalue));
  }

  /** Ask the kernel. Rejects with CatalogError or KernelEnded. */
  async request<T>(body: object): Promise<T> {
    await this.subshell();
    const comm = this.comm;
    if (!comm || comm.isDisposed) throw new KernelEnded("the kernel ended");
    const id = UUID.uuid4();
    return new Promise<T>((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (answer: never) => void, reject, since: Date.now() });
      comm.send({ ...body, id } as never);
    });
  }

  /** Requests that are sent before the subshell exists would wait for a running cell. */
  private async subshell(): Promise<void> {
    const started = (this.comm as { subshellStarted?: Promise<void> } | null)?.subshellStarted;
    if (!started || !this.connection.supportsSubshells) return;
    await Promise.race([started, new Promise<void>((done) => setTimeout(done, SUBSHELL_MS))]);
  }

  private onAnswer(message: KernelMessage.ICommMsgMsg): void {
    const answer = message.content.data as unknown as { id: string; error?: string } | SnapshotEvent | CatalogEvent;
    if ("event" in answer && answer.event === "catalog") return this.alteredSignal.emit();
    if ("event" in answer) return this.chosenSignal.emit(answer);
    const pending = this.pending.get(answer.id);
    if (!pending) return; // the answer to another page
    this.pending.delete(answer.id);
    if (answer.error !== undefined) pending.reject(new CatalogError(answer.error));
    else pending.resolve(answer as never);
  }

  /** The kernel is also busy while it answers requests, so only the state of cells counts. */
  private onOutput(_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void {
    const parent = message.parent_header as { msg_type?: string };
    if (message.header.msg_type !== "status" || parent.msg_type !== "execute_request") return;
    this.running = (message.content as { execution_state: string }).execution_state === "busy";
    if (!this.running) this.ranSignal.emit();
  }

  private onStatus(_: Kernel.IKernelConnection, status: Kernel.Status): void {
    if (isGone(status)) return this.end(status === "dead" ? "dead" : "restarting");
    if (this.current === "restarting" || this.current === "dead") {
      this.look();
    } else {
      this.signal.emit();
    }
  }

  private look(): void {
    this.become("waiting");
    void this.probe();
  }

  private end(state: State): void {
    this.comm = null;
    this.running = false;
    for (const pending of this.pending.values()) pending.reject(new KernelEnded("the kernel ended"));
    this.pending.clear();
    this.become(state);
  }

  private become(state: State): void {
    this.current = state;
    this.signal.emit();
  }
}
