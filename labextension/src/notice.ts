// Short notices in a corner of the page.
import { Notification } from "@jupyterlab/apputils";

const SHOWN_MS = 6000;

export const warn = (text: string): void => void Notification.warning(text, { autoClose: SHOWN_MS });
