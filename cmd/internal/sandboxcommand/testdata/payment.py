"""A whole payment, its fault and its refund against the sandbox, with Python's standard library alone.

Usage: payment.py BASE_URL SECRET_KEY. It prints "done" and exits with 0 if everything is as it should be.
"""

import hashlib
import http.client
import http.server
import json
import sys
import threading
import urllib.error
import urllib.request

BASE, SECRET = sys.argv[1], sys.argv[2]
CONTROL = BASE + "/_sandbox/api/v1/"
received = []


class Shop(http.server.BaseHTTPRequestHandler):
    """Takes notifications, and refuses the first one."""

    def do_POST(self):
        received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(500 if len(received) == 1 else 200)
        self.end_headers()

    def log_message(self, *args):
        pass


def call(url, body=None, method=None):
    """Sends JSON and returns the JSON response; an HTTP error is returned as well."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return {"status": error.code, **json.load(error)}


def control(path, body=None, method=None):
    return call(CONTROL + path, body, method)


def want(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: got {got!r}, want {expected!r}")


def signature(fields):
    """The published rule: the non-empty values in the order of their names, then the secret key; of that SHA-256."""
    values = [fields[name] for name in sorted(fields) if name != "sign"]
    text = "".join(v if isinstance(v, str) else json.dumps(v) for v in values if v not in ("", None))
    return hashlib.sha256((text + SECRET).encode()).hexdigest()


def payment(transaction, **more):
    return {
        "transactionId": transaction, "orderId": "order-" + transaction, "currency": "EUR", "amount": "48.50",
        "transactionIp": "203.0.113.7", "appId": "1862433537316352001", "callbackUrl": "https://shop.example/back",
        "notificationUrl": f"http://127.0.0.1:{shop.server_port}/notify", "billingAddress": {"country": "DE"},
        "productInfos": [{"productName": "Candle", "quantity": 1, "price": "48.50"}], **more,
    }


shop = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
threading.Thread(target=shop.serve_forever, daemon=True).start()

# A payment on the hosted page, with 3D. The cardholder is played through the control API.
created = call(BASE + "/checkout/payment", payment("tx-1"))
want("checkout", created["code"], 301)
want("card", control("payments/tx-1/card", {"testCard": "challenged"})["waitsFor"], "3d")
want("3D", control("payments/tx-1/authenticate", {"approve": True})["code"], 100)
query = call(BASE + "/search/order/" + created["uniqueId"])
want("query", (query["code"], query["transactionAmount"], query["is3d"]), (100, "48.50", "true"))

# Its notification is refused once and comes again, signed.
notices = control("wait?for=notifications&transactionId=tx-1&state=accepted&timeout=20s")["data"]
want("deliveries", [d.get("status") for d in notices[0]["deliveries"]], [500, 200])
want("signatures", [n["sign"] for n in received], [signature(n) for n in received])

# The fault: the money moves and the response is lost.
control("faults", {"operation": "CreateSubscription", "reply": "reset"})
card = {"cardNumber": "4300000000000000", "expiredMonth": "12", "expiredYear": "39", "cvv": "123", "cardholder": "Ada"}
subscription = {"subscriptionCycle": "WEEK", "subscriptionPeriod": 3}
try:
    call(BASE + "/api/subscription", payment("tx-2", card=card, extension=subscription))
    sys.exit("the response was not lost")
except (OSError, http.client.HTTPException):
    pass
want("executed", control("payments/tx-2")["executed"], 1)
again = call(BASE + "/api/subscription", payment("tx-2", card=card, extension=subscription))
want("repeated", again["code"], 501)
lost = control("payments/tx-2")
want("found again", (lost["code"], lost["executed"]), (100, 1))

# Its refund: the first response is lost too, and the same request again gives nothing back twice.
refund = {"uniqueId": lost["uniqueId"], "refundTransactionId": "back-1", "amount": "48.50", "remark": "broken"}
control("faults", {"operation": "CreateRefund", "name": "carried out, then closed"})
try:
    call(BASE + "/api/refund", refund)
    sys.exit("the response of the refund was not lost")
except (OSError, http.client.HTTPException):
    pass
want("refund repeated", call(BASE + "/api/refund", refund)["code"], 501)
want("refund waits", control("refunds/back-1")["code"], 110)
want("refund settled", control("refunds/back-1/settle", {})["code"], 111)
want("given back", control("refunds/back-1")["refunded"], 1)
kinds = [n["transactionType"] for n in control("wait?for=notifications&transactionType=Refund&state=accepted&timeout=20s")["data"]]
want("refund notified", kinds, ["Refund"])

# A chargeback, and everything is forgotten.
want("charge back", control("payments/tx-1/chargeback", {})["code"], 100)
control("wait?for=notifications&transactionType=Chargeback&state=accepted&timeout=20s")
want("last notification", received[-1]["transactionType"], "Chargeback")
misspelt = control("faults", {"operaton": "x"})["error"]
want("misspelt", [part in misspelt for part in ('unknown member "operaton"', '"operation"')], [True, True])
control("reset", {})
want("forgotten", control("payments")["data"], [])
print("done")
