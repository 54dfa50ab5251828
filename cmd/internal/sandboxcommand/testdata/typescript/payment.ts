// A payment, a lost response, a refund, a page of orders and the notifications, with a client and types that are made from the
// OpenAPI description of the sandbox.
//
// Usage: node payment.js BASE_URL. It prints "done" and exits with 0 if everything is as it should be.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import createClient from "openapi-fetch";
import type { paths, webhooks } from "./gateway.js";

type Payment = paths["/api/subscription"]["post"]["requestBody"]["content"]["application/json"];
type Notification = webhooks["notification"]["post"]["requestBody"]["content"]["application/json"];

const base = process.argv[2] ?? "";
const gateway = createClient<paths>({ baseUrl: base });

/** Calls the control API of the sandbox. */
async function control(path: string, body?: object): Promise<void> {
	const response = await fetch(`${base}/_sandbox/api/v1/${path}`, {
		method: body ? "POST" : "GET", body: body && JSON.stringify(body), headers: { "Content-Type": "application/json" },
	});
	assert.ok(response.ok, `${path}: HTTP ${response.status}`);
}

const received: Notification[] = [];
const shop = createServer(async (request, response) => {
	let text = "";
	for await (const part of request) text += part;
	received.push(JSON.parse(text) as Notification);
	response.end();
});
await new Promise<void>((listening) => shop.listen(0, "127.0.0.1", listening));

function payment(transactionId: string): Payment {
	return {
		transactionId, orderId: `order-${transactionId}`, currency: "EUR", amount: "48.50", transactionIp: "203.0.113.7",
		appId: "1862433537316352001", callbackUrl: "https://shop.example/back",
		notificationUrl: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/notify`,
		productInfos: [{ productName: "Candle", quantity: 1, price: "48.50" }], billingAddress: { country: "DE" },
		card: { cardNumber: "4300000000000000", expiredMonth: "12", expiredYear: "39", cvv: "123", cardholder: "Ada" },
		extension: { subscriptionCycle: "WEEK", subscriptionPeriod: 3 },
	};
}

// The types say what each code comes with: uniqueId is there because the code is 100.
const { data: paid } = await gateway.POST("/api/subscription", { body: payment("tx-1") });
assert.ok(paid?.code === 100, `the payment: ${JSON.stringify(paid)}`);
const first: string = paid.uniqueId;

// The response to a payment is lost. It is not sent again: the gateway is queried for its outcome.
await control("faults", { operation: "CreateSubscription", reply: "reset" });
await assert.rejects(gateway.POST("/api/subscription", { body: payment("tx-2") }));
const wallTime = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19).replace("T", " "); // in UTC+8
const lastDay = { startDate: wallTime(Date.now() - 86_400_000), endingDate: wallTime(Date.now() + 60_000) };
const { data: lost } = await gateway.GET("/search/list/order", { params: { query: { ...lastDay, transactionId: "tx-2" } } });
assert.ok(lost?.code === 121 && lost.data.length === 1, `the lost payment: ${JSON.stringify(lost)}`);
const found = lost.data[0];
assert.ok(found?.code === 100 && found.transactionAmount === "48.50", `found: ${JSON.stringify(found)}`);

// Its refund.
const { data: refund } = await gateway.POST("/api/refund", {
	body: { uniqueId: found.uniqueId, refundTransactionId: "back-1", amount: "8.50" },
});
assert.ok(refund?.code === 110, `the refund: ${JSON.stringify(refund)}`);
assert.equal(refund.refundTransactionId, "back-1");

// A page of the orders, newest first.
const { data: page } = await gateway.GET("/search/list/order", { params: { query: { ...lastDay, currPage: "1", pageSize: "10" } } });
assert.ok(page?.code === 121, `the page: ${JSON.stringify(page)}`);
assert.deepEqual(page.data.map((row) => row.uniqueId).sort(), [first, found.uniqueId].sort());

// A refusal has its own code.
const { data: again } = await gateway.POST("/api/subscription", { body: payment("tx-1") });
assert.equal(again?.code, 501);

// Two payments and a refund were notified.
await control("wait?for=notifications&transactionType=Sale&state=accepted&count=2&timeout=20s");
await control("wait?for=notifications&transactionType=Refund&state=accepted&timeout=20s");
const about = received.map((n) => ("merchantRefundId" in n ? n.merchantRefundId : "transactionId" in n ? n.transactionId : n.transactionType));
assert.deepEqual(about.sort(), ["back-1", "tx-1", "tx-2"]);

shop.close();
console.log("done");
