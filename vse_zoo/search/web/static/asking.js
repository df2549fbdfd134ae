// Questions to the server.

export async function ask(address, options = {}) {
  let answer;
  try {
    answer = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server doesn't answer. Is vse-zoo serve still running?");
  }
  let values = {};
  try {
    values = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  if (!answer.ok) throw new Error(values.detail || `The server failed (${answer.status}).`);
  return values;
}

export function percent(result) {
  if (result.confidence === null) return `score ${result.score.toFixed(2)}`;
  return `right ${Math.round(100 * result.confidence)} %`;
}
